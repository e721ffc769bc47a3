// A picture with marks in one SVG: zoom and pan change its viewBox, new marks leave it as it is.

const CROSS = 5 // half a cross, in screen pixels
const CLOSEST = 24 // pixels of the picture that fill the view at most
const NEAR = 3 // screen pixels for one of the picture from which pixels are drawn as squares
const DRAGGED = 4 // screen pixels from which a press is a drag

function outline(mark) {
  const [x0, y0, x1, y1] = mark.box
  if (mark.shape === "circle") {
    return make("ellipse", { cx: (x0 + x1) / 2, cy: (y0 + y1) / 2, rx: (x1 - x0) / 2, ry: (y1 - y0) / 2 })
  }
  return make("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0 })
}

function markGroup(mark) {
  const group = make("g")
  const [x0, y0, x1, y1] = mark.box
  if (mark.ref) {
    group.setAttribute("data-ref", mark.ref)
    group.setAttribute("tabindex", "-1")
    group.setAttribute("role", "button")
    group.setAttribute("aria-label", mark.text)
  }
  if (mark.text) group.append(make("title", {}, mark.text))
  if (mark.shape) {
    if (mark.halo) {
      const halo = outline(mark)
      halo.setAttribute("class", "halo")
      halo.setAttribute("style", `fill:none;stroke:rgba(0,0,0,0.55);stroke-width:${mark.width + 2};vector-effect:non-scaling-stroke`)
      group.append(halo)
    }
    const line = outline(mark)
    line.setAttribute("class", "mark")
    line.setAttribute("stroke", mark.colour)
    line.setAttribute("stroke-width", mark.width)
    if (mark.dashed) line.setAttribute("stroke-dasharray", "4 3")
    group.append(line)
  }
  if (mark.cross) {
    const spot = make("circle", { cx: (x0 + x1) / 2, cy: (y0 + y1) / 2, class: "spot", fill: "transparent" })
    const cross = make("path", { class: "mark cross", stroke: mark.colour, "stroke-width": 2 })
    cross.dataset.x = (x0 + x1) / 2
    cross.dataset.y = (y0 + y1) / 2
    group.append(spot, cross)
  }
  if (mark.note) group.append(make("text", { class: "note", x: x0, y: y0, fill: mark.colour }, mark.note))
  return group
}

function show(root) {
  const { svg, view, data } = root.viewer
  svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`)
  const scale = Math.min((svg.clientWidth || view.w) / view.w, (svg.clientHeight || view.h) / view.h)
  const pixel = 1 / scale // of the screen, in pixels of the picture
  svg.querySelector("image").setAttribute("class", scale > NEAR ? "near" : "")
  for (const cross of svg.querySelectorAll(".cross")) {
    const x = +cross.dataset.x
    const y = +cross.dataset.y
    const r = CROSS * pixel
    cross.setAttribute("d", `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`)
  }
  for (const spot of svg.querySelectorAll(".spot")) spot.setAttribute("r", 2 * CROSS * pixel)
  for (const note of svg.querySelectorAll(".note")) {
    note.setAttribute("font-size", 14 * pixel)
    note.setAttribute("stroke-width", 3 * pixel)
    note.setAttribute("dy", -4 * pixel)
  }
  svg.setAttribute("aria-label", data.alt)
}

function zoom(root, factor, px, py) {
  const { view, data } = root.viewer
  const w = Math.min(Math.max(view.w * factor, CLOSEST), data.width)
  const h = (w * data.height) / data.width
  view.x += (view.w - w) * px
  view.y += (view.h - h) * py
  view.w = w
  view.h = h
  inside(root)
  show(root)
}

function inside(root) {
  const { view, data } = root.viewer
  view.x = Math.min(Math.max(view.x, 0), data.width - view.w)
  view.y = Math.min(Math.max(view.y, 0), data.height - view.h)
}

function whole(root) {
  const { data } = root.viewer
  root.viewer.view = { x: 0, y: 0, w: data.width, h: data.height }
  show(root)
}

function place(svg, event) {
  const box = svg.getBoundingClientRect()
  return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]
}

// The square between where a drag began and where it is, in pixels of the picture, not beyond its edges.
function square(root, from, to) {
  const { data } = root.viewer
  const right = to[0] >= from[0], down = to[1] >= from[1]
  const room = Math.min(right ? data.width - from[0] : from[0], down ? data.height - from[1] : from[1])
  const side = Math.min(Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])), room)
  const x = right ? from[0] : from[0] - side, y = down ? from[1] : from[1] - side
  return [x, y, x + side, y + side]
}

function listen(root) {
  const { svg } = root.viewer
  let press = null
  const at = (event) => {
    const { view } = root.viewer
    const [px, py] = place(svg, event)
    return [view.x + px * view.w, view.y + py * view.h]
  }
  svg.addEventListener("wheel", (event) => {
    event.preventDefault()
    zoom(root, Math.exp(Math.sign(event.deltaY) * 0.2), ...place(svg, event))
  }, { passive: false })
  svg.addEventListener("dblclick", () => whole(root))
  svg.addEventListener("pointerdown", (event) => {
    const { view } = root.viewer
    const mark = event.target.closest("[data-ref]")
    press = { x: event.clientX, y: event.clientY, from: { ...view }, ref: mark?.dataset.ref, moved: false, at: at(event) }
    svg.setPointerCapture(event.pointerId)
  })
  svg.addEventListener("pointermove", (event) => {
    if (!press) return
    const dx = event.clientX - press.x
    const dy = event.clientY - press.y
    if (Math.hypot(dx, dy) > DRAGGED) press.moved = true
    if (!press.moved) return
    const { view } = root.viewer
    if (root.viewer.drawing()) {
      press.square ??= svg.appendChild(make("rect", { class: "square" }))
      press.box = square(root, press.at, at(event))
      const [x, y, right] = press.box
      for (const [name, value] of Object.entries({ x, y, width: right - x, height: right - x })) press.square.setAttribute(name, value)
      return
    }
    view.x = press.from.x - (dx * view.w) / svg.clientWidth
    view.y = press.from.y - (dy * view.h) / svg.clientHeight
    inside(root)
    show(root)
  })
  svg.addEventListener("pointerup", () => {
    if (press && !press.moved && press.ref) root.viewer.pick(press.ref)
    if (press?.box) root.viewer.tell(press.box)
    press?.square?.remove()
    press = null
  })
  svg.addEventListener("pointercancel", () => {
    press?.square?.remove()
    press = null
  })
  svg.addEventListener("focusin", (event) => stopAt(svg, event.target.closest("[data-ref]")))
  svg.addEventListener("keydown", (event) => {
    const mark = event.target.closest("[data-ref]")
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key]
    if (mark && step) {
      const all = [...svg.querySelectorAll("[data-ref]")]
      all[Math.min(all.length - 1, Math.max(0, all.indexOf(mark) + step))].focus()
      event.preventDefault()
      event.stopPropagation()
    }
    if (mark && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault()
      root.viewer.pick(mark.dataset.ref)
    }
  })
  new ResizeObserver(() => show(root)).observe(svg)
}

// One stop of the Tab key; the arrow keys lead from mark to mark.
function stopAt(svg, mark) {
  if (!mark) return
  for (const other of svg.querySelectorAll("[data-ref]")) other.setAttribute("tabindex", other === mark ? "0" : "-1")
}

function build(root, data) {
  const svg = make("svg", { role: "group", preserveAspectRatio: "xMidYMin meet" })
  const picture = make("image", { x: 0, y: 0 })
  svg.append(picture, make("g"))
  const tools = element("div", "tools")
  const draw = button("", "", () => {
    draw.setAttribute("aria-pressed", draw.getAttribute("aria-pressed") !== "true")
    svg.classList.toggle("draws", root.viewer.drawing())
  })
  draw.setAttribute("aria-pressed", false)
  tools.append(
    draw,
    button("", "+", () => zoom(root, 0.6, 0.5, 0.5), "Zoom in"),
    button("", "−", () => zoom(root, 1 / 0.6, 0.5, 0.5), "Zoom out"),
    button("", "whole", () => whole(root), "Show the whole picture"),
  )
  root.replaceChildren(svg, tools)
  root.viewer = { svg, data, draw, view: null, drawing: () => draw.getAttribute("aria-pressed") === "true" }
  listen(root)
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".viewer")
  if (!root.viewer) build(root, data)
  const viewer = root.viewer
  const another = viewer.data.name !== data.name || !viewer.view
  viewer.data = data
  viewer.pick = (ref) => setTriggerValue("picked", ref)
  viewer.tell = (box) => setTriggerValue("square", box)
  viewer.draw.hidden = !data.draws
  viewer.draw.textContent = data.draws
  const picture = viewer.svg.querySelector("image")
  if (viewer.source !== data.source) {
    viewer.source = data.source
    picture.setAttribute("href", data.source)
    picture.setAttribute("width", data.width)
    picture.setAttribute("height", data.height)
    viewer.svg.style.aspectRatio = `${data.width} / ${data.height}`
  }
  const drawn = JSON.stringify(data.marks)
  if (viewer.drawn !== drawn) {
    viewer.drawn = drawn
    viewer.svg.querySelector("g").replaceChildren(...data.marks.map(markGroup))
    stopAt(viewer.svg, viewer.svg.querySelector("[data-ref]"))
  }
  if (another) whole(root)
  else show(root)
}
