// Keyboard shortcuts of the whole app. One listener at a time; it sees a key before Streamlit's own shortcuts do.

const PATIENCE = 1500 // milliseconds between the two keys of "go to"
const FIELDS = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable=true], [role=textbox], [role=combobox], [role=slider], [role=listbox], canvas, .field, [role=application]"

function typing(event) {
  const node = event.composedPath()[0]
  return node instanceof Element && node.closest(FIELDS) !== null
}

// All elements of the page, also those inside components, that match.
function everywhere(selector) {
  const main = document.querySelector("[data-testid=stMain]") ?? document.body
  const roots = [...main.querySelectorAll("*")].flatMap((node) => (node.shadowRoot ? [node.shadowRoot] : []))
  return roots.flatMap((root) => [...root.querySelectorAll(selector)]).filter((node) => node.checkVisibility?.() ?? true)
}

function focusOn(node) {
  if (!node) return false
  node.focus()
  node.scrollIntoView({ block: "nearest" })
  return true
}

function toMatrix() {
  return focusOn(everywhere('[role=gridcell][tabindex="0"]')[0])
}

function toPictures() {
  const galleries = everywhere(".gallery").filter((node) => node.querySelector(".tile:enabled"))
  const now = galleries.findIndex((node) => node.getRootNode().activeElement && node.contains(node.getRootNode().activeElement))
  return focusOn(galleries[(now + 1) % galleries.length]?.querySelector('.tile[tabindex="0"], .tile:enabled'))
}

function go(title) {
  const menu = document.querySelector("[data-testid=stSidebar]") ?? document
  const links = [...menu.querySelectorAll("[data-testid=stPageLink-NavLink]")]
  const link = links.find((one) => one.textContent.trim().endsWith(title))
  link?.click()
  return Boolean(link)
}

function present() {
  const toggle = document.querySelector(".st-key-present input")
  toggle?.click()
  return Boolean(toggle)
}

// In Present mode, also for a clicker: what leads on in a lesson or with a class, else the next figure, which is a tab of
// the page. What has the focus and takes arrows itself keeps them.

const STEPS = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }
const ONWARD = ["lesson_look", "lesson_next", "lesson_end", "lesson_following", "class_reveal", "class_next"]
const KEEPS = "input, [role=radio], [role=option], [role=menuitem], [role=gridcell]"

function step(key) {
  const by = STEPS[key]
  if (!by || !document.querySelector(".st-key-present_leave")) return false
  const focused = document.activeElement // pictures and matrices are within components
  if (key.startsWith("Arrow") && (focused.shadowRoot || focused.matches(KEEPS))) return false
  const ways = by > 0 ? ONWARD : ["lesson_back"]
  const tabs = document.querySelector("[data-testid=stMain] [role=tablist]")?.querySelectorAll("[role=tab]") ?? []
  const now = [...tabs].findIndex((tab) => tab.getAttribute("aria-selected") === "true")
  const onward = document.querySelector(ways.map((one) => `.st-key-${one} button:enabled`).join())
  const to = onward ?? tabs[now + by]
  to?.click()
  return Boolean(to)
}

// Spotlight: all is dim but what is around the pointer.

let light = null

function follow({ clientX: x, clientY: y }) {
  if (light) light.style.background = `radial-gradient(circle at ${x}px ${y}px, transparent 9rem, rgb(0 0 0 / 0.7) 10rem)`
}

function spotlight() {
  if (light) {
    light = light.remove() ?? null
    return true
  }
  light = document.body.appendChild(element("div", "spotlight"))
  light.style.cssText = "position: fixed; inset: 0; z-index: 1000000; pointer-events: none"
  follow({ clientX: innerWidth / 2, clientY: innerHeight / 2 })
  return true
}

// Within the view of an example Streamlit leads the Tab key past what stands in components; here they have their turn.

const TABBED = "a[href], button, input, select, textarea, [tabindex]"

function tabbed(root) {
  return [...root.querySelectorAll("*")].flatMap((node) => {
    const own = node.matches(TABBED) && node.tabIndex >= 0 && !node.disabled && node.checkVisibility() ? [node] : []
    return node.shadowRoot ? [...own, ...tabbed(node.shadowRoot)] : own
  })
}

function holder() {
  let node = document.activeElement
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  return node
}

function withinView(view, event) {
  const lost = document.activeElement === document.body // what had the focus is gone, as with a tile drawn anew
  if (event.key === "Escape" && lost) view.querySelector("button[aria-label=Close]")?.click()
  if (event.key !== "Tab" || !tabbed(view).some((node) => node.getRootNode() !== document)) return false
  const all = tabbed(view)
  const at = all.indexOf(holder())
  const to = event.shiftKey ? (at > 0 ? at : all.length) - 1 : (at + 1) % all.length
  all[to].focus()
  return true
}

function act(state, event) {
  const open = state.sheet.open
  if (event.key === "?") {
    if (open) state.sheet.close()
    else state.sheet.showModal()
    return true
  }
  const view = document.querySelector("[role=dialog]")
  if (open) return false
  if (view) return withinView(view, event)
  if (state.going && Date.now() - state.going < PATIENCE) {
    state.going = 0
    const title = state.data.pages[event.key.toLowerCase()]
    return Boolean(title) && go(title)
  }
  state.going = 0
  if (event.key === state.data.go) {
    state.going = Date.now()
    return true
  }
  if (event.repeat) return false // of a key that is held, each would lead one question on
  if (event.key === "Escape" && light) return spotlight()
  return Boolean({ m: toMatrix, f: toPictures, p: present, s: spotlight }[event.key]?.()) || step(event.key)
}

// On a phone the menu lies over the page: it closes when one of its links is followed, and with the page that comes of
// a link that was followed before this listened.
let path = new URL(performance.getEntriesByType("navigation")[0]?.name ?? location.href).pathname

function closeMenu() {
  if (window.innerWidth <= 768) document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
}

function followed(event) {
  if (event.target.closest(".st-key-menu a")) closeMenu()
}

function arrived() {
  if (location.pathname !== path) closeMenu()
  path = location.pathname
}

// The second click of a double click is meant for what the first one was on. Where another button has come to that place
// meanwhile, as the page was drawn anew, it is nobody's.
let pressed = null

function clicked(event) {
  const before = pressed
  pressed = event.composedPath()[0].closest?.("button, a")
  if (event.detail < 2 || !pressed || pressed === before) return
  event.preventDefault()
  event.stopImmediatePropagation()
}

function sheetOf(data) {
  const sheet = element("dialog")
  sheet.setAttribute("aria-label", "Keyboard shortcuts")
  const head = element("header")
  head.append(element("h2", "", "Keyboard shortcuts"), button("", "Close", () => sheet.close()))
  sheet.append(head)
  for (const [name, keys] of data.groups) {
    const list = element("dl", keys.length > 6 ? "many" : "")
    for (const [key, what] of keys) {
      const pair = element("div")
      const term = element("dt")
      term.append(...key.split(" ").map((one) => element("kbd", "", one)))
      pair.append(term, element("dd", "", what))
      list.append(pair)
    }
    sheet.append(element("h3", "", name), list)
  }
  sheet.onclick = (event) => {
    if (event.target === sheet) sheet.close() // beside it
  }
  return sheet
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".keys")
  if (!root.state) {
    const sheet = sheetOf(data)
    const open = button("", "", () => sheet.showModal(), "Keyboard shortcuts", true)
    open.append(element("kbd", "", "?"), " Keyboard shortcuts")
    const onPaper = "Prints the figures of this page, on paper or as PDF, with room to draw"
    const print = button("", "Print", () => window.print(), onPaper, true)
    root.replaceChildren(open, print, sheet)
    root.state = { data, sheet, going: 0 }
  }
  root.state.data = data
  arrived()
  if (root.heard) return
  root.heard = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    if (typing(event) && event.key !== "Tab") return
    if (!root.isConnected || !act(root.state, event)) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  window.addEventListener("keydown", root.heard, true)
  window.addEventListener("click", clicked, true)
  window.addEventListener("click", followed)
  window.addEventListener("pointermove", follow)
  return () => {
    window.removeEventListener("keydown", root.heard, true)
    window.removeEventListener("click", clicked, true)
    window.removeEventListener("click", followed)
    window.removeEventListener("pointermove", follow)
    root.heard = null
  }
}
