// The back button leads to the page before in one press. Streamlit adds a step to the browser's history for each address
// that a page writes. Here what a page writes before anybody has touched it takes the place of the address that it was
// opened by, and the next one, which may write before the address has its name, has one step in all.
//
// What a page sends of itself in the moment that it is left takes the place, in Streamlit's server, of the request for
// the page gone back to: the page that is left answers, and is written into the address. It is asked for once more.

if (!Object.hasOwn(history, "pushState")) {
  const LINKS = "[data-testid=stPageLink-NavLink]"

  function leads(event) {
    const link = event.composedPath().find((node) => node instanceof Element && node.matches(LINKS))
    return Boolean(link) && !event.ctrlKey && !event.metaKey && link.pathname !== location.pathname
  }

  let touched = false
  let leaving = false
  let ahead = false // the step of the next page is there, under the name of this one
  let wanted = "" // the path gone back to, until its page is touched
  let asks = 0 // how often its page may be asked for once more
  function touch() {
    touched = true
    wanted = ""
  }
  for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, touch, true)
  function back(event) {
    touched = leaving = ahead = false
    if (!event.isTrusted) return
    wanted = location.pathname
    asks = 5
  }
  window.addEventListener("popstate", back, true)
  window.addEventListener("click", (event) => {
    leaving = leads(event)
    ahead = false
    wanted = ""
  })
  history.pushState = (state, title, url) => {
    const arrives = new URL(url, location.href).pathname !== location.pathname
    if (arrives && location.pathname === wanted && asks-- > 0) {
      queueMicrotask(() => window.dispatchEvent(new PopStateEvent("popstate")))
      return
    }
    const adds = !ahead && (arrives || touched || leaving)
    const step = adds ? History.prototype.pushState : History.prototype.replaceState
    step.call(history, state, title, url)
    ahead = leaving && !arrives
    if (arrives) touched = leaving = false
  }
}
