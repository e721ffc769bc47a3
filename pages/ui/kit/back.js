// The back button leads to the page before in one press. Streamlit adds a step to the browser's history for each address
// that a page writes. Here what a page writes before anybody has touched it takes the place of the address that it was
// opened by, and what the next one writes before the address has its name waits for that.

const LINKS = "[data-testid=stPageLink-NavLink]"

function leads(event) {
  const link = event.composedPath().find((node) => node instanceof Element && node.matches(LINKS))
  return Boolean(link) && !event.ctrlKey && !event.metaKey && link.pathname !== location.pathname
}

if (!Object.hasOwn(history, "pushState")) {
  let touched = false
  let leaving = false
  for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, () => (touched = true), true)
  window.addEventListener("click", (event) => (leaving = leads(event)))
  window.addEventListener("popstate", () => (touched = leaving = false), true)
  history.pushState = (state, title, url) => {
    const arrives = new URL(url, location.href).pathname !== location.pathname
    if (leaving && !arrives) return
    const step = arrives || touched ? History.prototype.pushState : History.prototype.replaceState
    step.call(history, state, title, url)
    if (arrives) touched = leaving = false
  }
}
