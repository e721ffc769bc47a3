// Pictures in a row that wraps, the decision as bars beneath each. Text is set as text, never as markup.

const BARS = 56 // height of the bars of one picture, in pixels

// The first bar is filled, the others are hollow; blue above the zero line, orange below.
function bars(data, values) {
  const wide = Math.max(data.width * data.scale, 40)
  const svg = make("svg", { width: wide, height: BARS, "aria-hidden": "true" })
  const step = wide / (values.length + 1)
  const half = BARS / 2
  svg.append(make("line", { x1: 0, x2: wide, y1: half, y2: half, class: "zero" }))
  values.forEach((value, k) => {
    const tall = Math.max(1, (Math.abs(value) / data.largest) * (half - 2))
    const colour = value > 0 ? BLUE : ORANGE
    svg.append(
      make("rect", {
        x: step * (k + 1) - 6,
        y: value > 0 ? half - tall : half,
        width: 12,
        height: tall,
        fill: k ? "transparent" : colour,
        stroke: colour,
        "stroke-width": 1.5,
      })
    )
  })
  return svg
}

function column(data, i) {
  const cell = data.cells[i]
  const node = element("div", "cell")
  node.setAttribute("role", "listitem")
  node.setAttribute("aria-label", cell.label)
  node.title = cell.label
  node.tabIndex = -1
  node.dataset.right = cell.right
  node.dataset.original = cell.original
  node.append(element("div", "caption", cell.caption), picture(data, i), bars(data, cell.values))
  node.append(element("div", "answer", `${cell.right ? "" : "✕ "}${cell.answer}`))
  if (cell.note) node.append(element("div", "note", cell.note))
  return node
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".orbit")
  const now = JSON.stringify(data)
  if (root.drawn === now) return
  root.drawn = now
  root.setAttribute("aria-label", data.alt)
  if (!root.stopped) rove(root, ".cell")
  root.dataset.ink = data.ink
  root.style.setProperty("--sheet", `url(${data.sheet})`)
  const nodes = []
  data.cells.forEach((cell, i) => {
    if (i && cell.right !== data.cells[i - 1].right) nodes.push(element("div", "flip", "flips"))
    nodes.push(column(data, i))
  })
  const held = root.contains(root.getRootNode().activeElement)
  root.replaceChildren(...nodes)
  setStop(root, root.querySelector(".cell"))
  if (held) root.querySelector(".cell").focus()
}
