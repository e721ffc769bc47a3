// The bill of a decision. Lines that are switched off stay here, so that f moves at once; text is set as text.

const GREY = "#8A8F98"
const ROOM = 0.04 // of the frame, left free at both ends
const WIDER = 1.5 // the rest is drawn whole where the frame grows by no more than this

function signed(x) {
  return (x < 0 ? "−" : "+") + Math.abs(x).toFixed(Math.abs(x) < 0.0995 && x !== 0 ? 3 : 2)
}

function exact(f) {
  return (f < 0 ? "−" : "+") + Math.abs(f).toFixed(3)
}

function share(x) {
  return x >= 0.995 && x < 1 ? "99" : (100 * x).toFixed(x < 0.095 ? 1 : 0)
}

function counted(n, words) {
  return `${n.toLocaleString("en")} ${n === 1 ? words.one : words.many}`
}

// What is written, and drawn, of one side as things stand: totals before and after each bar, and the frame.
function reckon(root, side) {
  const { data, off, all } = root.bill
  const names = all ? side.names : side.names.slice(0, data.first)
  const part = (name) => data.lines[name].parts[side.machine]
  const bars = []
  let total = side.bias
  for (const name of names) {
    const to = total + part(name)
    bars.push({ name, from: total, to })
    if (!off.has(name)) total = to
  }
  const rest = { nFor: side.n_for, pro: side.part_for, nAgainst: side.n_against, contra: side.part_against, pull: 0 }
  const pull = side.part_for - side.part_against
  for (const name of names) {
    const p = part(name)
    rest.pull += Math.abs(p)
    if (p > 0) [rest.nFor, rest.pro] = [rest.nFor - 1, rest.pro - p]
    if (p < 0) [rest.nAgainst, rest.contra] = [rest.nAgainst - 1, rest.contra - p]
  }
  for (const name of off) { // switched off in the other machine's picture, here among the rest
    if (names.includes(name)) continue
    const p = part(name)
    if (p > 0) rest.pro -= p
    if (p < 0) rest.contra -= p
  }
  const now = side.f - [...off].reduce((sum, name) => sum + part(name), 0)
  const ends = [0, side.bias, side.f, now, total, ...bars.flatMap((bar) => [bar.from, bar.to])]
  let [low, high] = [Math.min(...ends), Math.max(...ends)]
  const far = total + (rest.nFor ? rest.pro : 0)
  if (far - low <= WIDER * (high - low)) high = Math.max(high, far)
  const margin = ROOM * (high - low || 1)
  return { names, bars, total, rest, now, pictured: pull ? rest.pull / pull : 1, low: low - margin, high: high + margin }
}

function place(bar, frame, from, to, colour) {
  const at = (value) => (100 * (value - frame.low)) / (frame.high - frame.low)
  const [left, right] = [Math.min(from, to), Math.max(from, to)].map(at)
  bar.style.left = `${Math.max(0, left)}%`
  bar.style.width = `${Math.max(0, Math.min(100, right) - Math.max(0, left))}%`
  bar.style.setProperty("--bar", colour)
  bar.dataset.torn = right > 100.01
}

function lane(kind) {
  const node = element("div", "lane")
  node.append(element("span", "zero"), element("span", `bar ${kind}`))
  return node
}

function lineRow(root, side, i) {
  const name = side.names[i]
  const line = root.bill.data.lines[name]
  const row = element("div", "row line")
  row.dataset.name = name
  const toggle = button("toggle", "", null, `${line.label}. Click: switch it off or on.`)
  toggle.setAttribute("aria-label", line.label)
  toggle.dataset.ring = side.rings[i]
  toggle.style.setProperty("--sign", { 1: BLUE, "-1": ORANGE, 0: GREY }[side.signs[i]])
  toggle.append(line.picture < 0 ? element("span", "head", line.head) : picture(root.bill.data, line.picture))
  const text = element("div", "text")
  text.append(element("span", "value"), element("span", "caption", side.captions[i]))
  if (line.ref) {
    const open = button("open", "open", null, "Open the view of this example")
    open.dataset.ref = line.ref
    open.setAttribute("aria-label", `Open the view of: ${line.label}`)
    text.append(open)
  }
  row.append(toggle, lane("part"), text)
  return row
}

function sumRow(kind) {
  const row = element("div", `row sum ${kind}`)
  const text = element("div", "text")
  text.append(element("span", "value"), element("span", "caption"))
  row.append(element("span", "name"), lane(kind), text)
  return row
}

function section(root, side) {
  const node = element("section", "side")
  node.setAttribute("aria-label", side.title)
  const head = element("header", "")
  const title = element("span", "title", side.title)
  title.title = side.title
  head.append(title, element("span", "role", side.role), element("span", "f"), element("span", "now"))
  const rows = element("div", "rows")
  rows.append(sumRow("bias"))
  const { names } = reckon(root, side)
  names.forEach((_, i) => rows.append(lineRow(root, side, i)))
  rows.append(sumRow("for"), sumRow("against"), sumRow("total"))
  node.append(head, rows, element("p", "share"))
  return node
}

function paintSide(root, node, side) {
  const { data, off } = root.bill
  const { words } = data
  const told = reckon(root, side)
  const colour = (x) => (x > 0 ? BLUE : x < 0 ? ORANGE : GREY)
  const at = (selector) => node.querySelector(selector)
  at(".f").textContent = `f = ${exact(side.f)}`
  at(".now").textContent = off.size ? `${exact(told.now)} without` : ""
  at("header").dataset.off = off.size > 0
  const zero = `${(-100 * told.low) / (told.high - told.low)}%`
  for (const line of node.querySelectorAll(".zero")) line.style.left = zero
  const sum = (kind, name, caption, from, to) => {
    const row = at(`.sum.${kind}`)
    row.querySelector(".name").textContent = name
    row.querySelector(".caption").textContent = caption
    row.querySelector(".value").textContent = kind === "total" ? exact(to) : signed(to - from)
    place(row.querySelector(".bar"), told, from, to, colour(to - from))
  }
  sum("bias", "bias", "", 0, side.bias)
  node.querySelectorAll(".row.line").forEach((row, i) => {
    const { name, from, to } = told.bars[i]
    const gone = off.has(name)
    row.dataset.off = gone
    row.querySelector(".toggle").setAttribute("aria-pressed", gone)
    row.querySelector(".value").textContent = signed(to - from)
    place(row.querySelector(".bar"), told, from, to, colour(to - from))
  })
  const { rest, total } = told
  at(".sum.for").hidden = !rest.nFor
  at(".sum.against").hidden = !rest.nAgainst
  sum("for", "the rest", `${rest.nFor.toLocaleString("en")} more for`, total, total + rest.pro)
  const more = `${rest.nAgainst.toLocaleString("en")} more against`
  sum("against", rest.nFor ? "" : "the rest", more, total + rest.pro, total + rest.pro + rest.contra)
  sum("total", off.size ? "f without" : "f", "", 0, told.now)
  at(".share").textContent = rest.nFor + rest.nAgainst
    ? `Shown: ${counted(told.names.length, words)} with ${share(told.pictured)} % of all contributions by size.`
    : `Shown: all ${told.names.length} ${words.many}.`
}

function answerOf(f, classes) {
  if (f.length === 1) return classes[f[0] > 0 ? 1 : 0]
  return classes[f.indexOf(Math.max(...f))]
}

// What the run would answer without what is switched off.
function paintVerdict(root) {
  const { data, off } = root.bill
  const node = root.querySelector(".verdict")
  const what = data.sheet ? "picture" : "name"
  const hint = `Click a ${what} to switch it off: its bar turns hollow, and f changes.`
  node.querySelector(".reset").hidden = !off.size
  if (!off.size) {
    node.querySelector(".said").textContent = hint
    return
  }
  const without = data.f.map((f, c) => f - [...off].reduce((sum, name) => sum + data.lines[name].parts[c], 0))
  const n = [...off].reduce((sum, name) => sum + data.lines[name].count, 0)
  const [before, after] = [answerOf(data.f, data.words.classes), answerOf(without, data.words.classes)]
  const change = before === after ? `the prediction stays ${after}` : `the prediction changes from ${before} to ${after}`
  node.querySelector(".said").textContent =
    `Without ${counted(n, { one: "support vector", many: "support vectors" })} ${change}. ` +
    "The machines are not retrained. Retraining would let the other alphas compensate."
}

function paint(root) {
  const { data } = root.bill
  root.querySelectorAll(".side").forEach((node, s) => paintSide(root, node, data.sides[s]))
  paintVerdict(root)
}

function build(root) {
  const { data, all } = root.bill
  const verdict = element("div", "verdict")
  verdict.setAttribute("aria-live", "polite")
  verdict.append(element("span", "said"), button("reset", "Switch all on"))
  const sides = element("div", "sides")
  sides.append(...data.sides.map((side) => section(root, side)))
  const held = root.contains(root.getRootNode().activeElement)
  root.replaceChildren(verdict, sides)
  const most = Math.max(...data.sides.map((side) => side.names.length))
  if (most > data.first) root.append(button("more", all ? "Show fewer" : `Show the ${most} strongest`))
  root.setAttribute("aria-label", data.words.alt)
  root.dataset.ink = data.ink
  root.dataset.wide = data.sides.some((side) => side.captions.some((caption) => caption.includes("\n")))
  root.style.setProperty("--sheet", `url(${data.sheet})`)
  root.style.setProperty("--across", `${Math.max(48, data.width * data.scale)}px`)
  paint(root)
  const first = root.querySelector(".toggle")
  if (first) setStop(root, first)
  openable(root)
  if (held) first?.focus()
}

// The way to its own view is a stop of the Tab key in the row alone in which the reader is.
function openable(root) {
  const row = root.querySelector('.toggle[tabindex="0"]')?.closest(".row")
  for (const open of root.querySelectorAll(".open")) open.tabIndex = open.closest(".row") === row ? 0 : -1
}

// A choice that was clicked lets go of the arrow keys, which lead to the next example; one reached by key keeps them.
function release() {
  const held = document.activeElement
  if (!held?.matches("[role=radio]") || held.matches(":focus-visible")) return
  const dialog = held.closest("[role=dialog]") // which would give a focus that is merely dropped back
  if (dialog) dialog.focus({ preventScroll: true })
  else held.blur()
}

// Runs again after every script run: rebuilt only when something changed, or a click in between were lost.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".bill")
  const tell = () => setTriggerValue("off", [...root.bill.off].join(",") || "none")
  root.onclick = (event) => {
    const open = event.target.closest("button.open")
    const toggle = event.target.closest("button.toggle")
    const { off } = root.bill
    if (open) setTriggerValue("picked", open.dataset.ref)
    else if (toggle) {
      const { name } = toggle.closest(".row").dataset
      if (!off.delete(name)) off.add(name)
      paint(root)
      tell()
    } else if (event.target.closest("button.reset")) {
      off.clear()
      paint(root)
      tell()
      root.querySelector("button.toggle")?.focus()
    } else if (event.target.closest("button.more")) {
      root.bill.all = !root.bill.all
      build(root)
      root.querySelector("button.more").focus()
    }
  }
  if (!root.stopped) {
    rove(root, ".toggle", ["ArrowUp", "ArrowDown", "Home", "End"]) // left and right lead to other examples
    root.addEventListener("focusin", () => openable(root))
  }
  release()
  const drawn = JSON.stringify({ ...data, off: 0 })
  if (root.drawn === drawn) return
  root.drawn = drawn
  const known = root.bill?.data.subject === data.subject
  const off = new Set((known ? [...root.bill.off] : data.off).filter((name) => name in data.lines))
  root.bill = { data, off, all: root.bill?.all ?? false }
  build(root)
}
