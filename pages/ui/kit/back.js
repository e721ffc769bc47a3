// The back button leads to the page before in one press. Streamlit adds a step to the browser's history for each address
// that a page writes. Here what a page writes before anybody has touched it takes the place of the address that it was
// opened by, and the next one, which may write before the address has its name, has one step in all.

if (!Object.hasOwn(history, "pushState")) {
  const LINKS = "[data-testid=stPageLink-NavLink]"

  function leads(event) {
    const link = event.composedPath().find((node) => node instanceof Element && node.matches(LINKS))
    return Boolean(link) && !event.ctrlKey && !event.metaKey && link.pathname !== location.pathname
  }

  let touched = false
  let leaving = false
  let ahead = false // the step of the next page is there, under the name of this one
  for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, () => (touched = true), true)
  window.addEventListener("popstate", () => (touched = leaving = ahead = false), true)
  window.addEventListener("click", (event) => {
    leaving = leads(event)
    ahead = false
  })
  history.pushState = (state, title, url) => {
    const arrives = new URL(url, location.href).pathname !== location.pathname
    const adds = !ahead && (arrives || touched || leaving)
    const step = adds ? History.prototype.pushState : History.prototype.replaceState
    step.call(history, state, title, url)
    ahead = leaving && !arrives
    if (arrives) touched = leaving = false
  }
}
