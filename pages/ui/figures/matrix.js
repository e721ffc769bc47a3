// A matrix of classes in one SVG: shades follow the theme by CSS alone; texts are set as text, never as markup.

const HUES = { 1: "#0072B2", "-1": "#D55E00", 0: "var(--st-text-color)" }
const SHADES = { 1: [14, 58], "-1": [14, 58], 0: [9, 38] } // per cent of the hue, weakest and strongest
const LARGEST = 56 // side of a cell, in pixels
const LETTER = 7.2 // width of one, in pixels of a 13 px font

function layout(data, width) {
  const k = data.labels.length
  const font = 13 * data.type
  const longest = LETTER * data.type * Math.max(...data.labels.map((label) => label.length))
  const left = 26 * data.type + Math.min(longest, 0.3 * width)
  const whole = data.type > 1 ? (0.55 * window.innerHeight) / k : Infinity // shown to a class: all of it at once
  const side = Math.max(2, Math.min(LARGEST * data.type, whole, (width - left - 4) / k))
  const every = Math.max(1, Math.ceil((1.1 * font) / side)) // how many classes to a label
  const turned = longest > side * every
  const names = turned ? Math.min(longest, 150 * data.type) + 8 : 1.6 * font
  return { k, font, left, side, every, turned, top: 4, wide: left + k * side + 4, high: 4 + k * side + names + 1.8 * font }
}

function cut(label, room, font) {
  const most = Math.max(2, Math.floor(room / (0.55 * font)))
  return label.length <= most ? label : `${label.slice(0, most - 1)}…`
}

function axes(data, at) {
  const group = make("g", { class: "axis", "aria-hidden": "true", "font-size": at.font })
  for (let i = 0; i < at.k; i += at.every) {
    const middle = (i + 0.5) * at.side
    const across = make("text", { class: "across", x: at.left - 7, y: at.top + middle }, cut(data.labels[i], at.left - 26 * data.type, at.font))
    const x = at.left + middle
    const y = at.top + at.k * at.side + (at.turned ? 7 : 0.9 * at.font)
    const down = make("text", { x, y }, at.turned ? cut(data.labels[i], 150 * data.type, at.font) : data.labels[i])
    if (at.turned) {
      down.setAttribute("class", "across")
      down.setAttribute("transform", `rotate(-90 ${x} ${y})`)
    }
    group.append(across, down)
  }
  const half = (at.k * at.side) / 2
  const y = at.top + half
  group.append(
    make("text", { x: 9 * data.type, y, transform: `rotate(-90 ${9 * data.type} ${y})` }, "true"),
    make("text", { x: at.left + half, y: at.high - 0.8 * at.font }, "predicted"),
  )
  return group
}

function cellNode(data, at, i, cell) {
  const [row, column] = [Math.floor(i / at.k), i % at.k]
  const [, text, told, shade, sign] = cell ?? [i, "", "none", 0, 0]
  const label = `true ${data.classes[row]}, predicted ${data.classes[column]}: ${told}`
  const node = make("g", { role: "gridcell", tabindex: "-1", "data-cell": i, "aria-label": label })
  const gap = at.side > 8 ? 1 : 0
  const [x, y] = [at.left + column * at.side, at.top + row * at.side]
  node.append(make("rect", { x, y, width: at.side - gap, height: at.side - gap }))
  if (!cell) return node
  node.dataset.filled = ""
  if (row === column) node.dataset.right = ""
  node.setAttribute("aria-selected", data.selected.includes(i))
  if (shade > 0) {
    const [low, high] = SHADES[sign]
    node.dataset.shaded = ""
    node.style.setProperty("--hue", HUES[sign])
    node.style.setProperty("--shade", low + (high - low) * shade)
  }
  const font = Math.min(at.font, (1.6 * at.side) / Math.max(2, text.length))
  if (font >= 8) node.append(make("text", { x: x + at.side / 2, y: y + at.side / 2, "font-size": font }, text))
  node.append(make("title", {}, label))
  return node
}

function build(root, data) {
  const at = layout(data, root.clientWidth || 480)
  const known = new Map(data.cells.map((cell) => [cell[0], cell]))
  const size = { width: at.wide, height: at.high, viewBox: `0 0 ${at.wide} ${at.high}` }
  const svg = make("svg", { role: "grid", "aria-label": data.alt, ...size })
  svg.append(axes(data, at))
  for (let row = 0; row < at.k; row++) {
    const group = make("g", { role: "row" })
    for (let i = row * at.k; i < (row + 1) * at.k; i++) group.append(cellNode(data, at, i, known.get(i)))
    svg.append(group)
  }
  const saving = element("div", "saving")
  saving.append(
    saveButton("Save SVG", "Save the matrix as SVG", () => saveSvg(svg, data.file)),
    saveButton("Save PNG", "Save the matrix as PNG", () => savePng(svg, data.file)),
  )
  const held = root.getRootNode().activeElement?.dataset?.cell
  root.replaceChildren(svg, saving)
  const most = data.cells.reduce((best, cell) => (cell[3] > (best?.[3] ?? 0) ? cell : best), null)
  const stop = cellAt(root, held ?? data.selected[0] ?? most?.[0] ?? 0)
  stop?.setAttribute("tabindex", "0")
  if (held !== undefined) stop?.focus()
}

function select(root) {
  for (const node of root.querySelectorAll("[aria-selected=true]")) node.setAttribute("aria-selected", false)
  for (const i of root.data.selected) cellAt(root, i)?.setAttribute("aria-selected", true)
}

function cellAt(root, i) {
  return root.querySelector(`[data-cell="${i}"]`)
}

function move(root, node, key) {
  const k = root.data.labels.length
  const i = +node.dataset.cell
  const [row, column] = [Math.floor(i / k), i % k]
  const to = {
    ArrowUp: row > 0 ? i - k : i,
    ArrowDown: row < k - 1 ? i + k : i,
    ArrowLeft: column > 0 ? i - 1 : i,
    ArrowRight: column < k - 1 ? i + 1 : i,
    Home: row * k,
    End: row * k + k - 1,
  }[key]
  if (to !== undefined) cellAt(root, to).focus()
  return to !== undefined
}

// Runs again after every script run: rebuilt only when something changed, or a click in between were lost.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".matrix")
  root.data = data
  const pick = (node) => {
    if (node && "filled" in node.dataset) setTriggerValue("picked", +node.dataset.cell)
  }
  root.onclick = (event) => pick(event.target.closest("[role=gridcell]"))
  root.onkeydown = (event) => {
    const node = event.target.closest("[role=gridcell]")
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return
    const chosen = event.key === "Enter" || event.key === " "
    if (chosen) pick(node)
    if (!chosen && !move(root, node, event.key)) return
    event.preventDefault()
    event.stopPropagation()
  }
  if (!root.watched) {
    root.watched = true
    root.addEventListener("focusin", (event) => {
      const node = event.target.closest("[role=gridcell]")
      if (!node) return
      for (const other of root.querySelectorAll('[role=gridcell][tabindex="0"]')) other.setAttribute("tabindex", "-1")
      node.setAttribute("tabindex", "0")
    })
    new ResizeObserver(() => {
      if (Math.abs(root.clientWidth - root.built) > 1) {
        root.built = root.clientWidth
        build(root, root.data)
      }
    }).observe(root)
  }
  const drawn = JSON.stringify({ ...data, selected: 0 })
  if (root.drawn === drawn) return select(root)
  root.drawn = drawn
  root.built = root.clientWidth
  build(root, data)
}
