// Points of two colours: two taps make a line, a tap on a point rings it. data: see pictures.plane.

const SIDE = 100
const place = (v) => SIDE * (0.5 + v / 2.4) // the plane from -1.2 to 1.2
const value = (part) => Math.round((part - 0.5) * 2400) / 1000
const REACH = 0.2 // from a point within which a tap is meant for it
const MOVES = { ArrowLeft: [5, 0], ArrowRight: [-5, 0], ArrowUp: [0, 0.05], ArrowDown: [0, -0.05] } // degrees, up

function node(parent, tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag)
  Object.entries({ "vector-effect": "non-scaling-stroke", ...attributes }).forEach(([name, is]) => made.setAttribute(name, is))
  parent.append(made)
  return made
}

function line(svg, [x1, y1, x2, y2], name) {
  const far = 8 / Math.max(Math.hypot(x2 - x1, y2 - y1), 1e-6)
  const [dx, dy] = [far * (x2 - x1), far * (y2 - y1)]
  node(svg, "line", { x1: place(x1 - dx), y1: place(dy - y1), x2: place(x1 + dx), y2: place(-y1 - dy), class: name })
}

function pointed(svg, event) {
  const box = svg.getBoundingClientRect()
  return [value((event.clientX - box.left) / box.width), -value((event.clientY - box.top) / box.height)]
}

function turned([x1, y1, x2, y2], [degrees, up]) {
  const [x, y] = [(x1 + x2) / 2, (y1 + y2) / 2 + up]
  const angle = Math.atan2(y2 - y1, x2 - x1) + (degrees * Math.PI) / 180
  return [x - Math.cos(angle), y - Math.sin(angle), x + Math.cos(angle), y + Math.sin(angle)].map((v) => Math.round(1000 * v) / 1000)
}

function lines(svg, root, data) {
  data.answers.forEach((one) => line(svg, one, "other"))
  if (data.right) line(svg, data.right, "right")
  if (root.drawn.length === 4) line(svg, root.drawn, "mine")
  if (root.drawn.length === 2) node(svg, "circle", { cx: place(root.drawn[0]), cy: place(-root.drawn[1]), r: 1.5, class: "mine" })
  if (!root.takes) return
  svg.setAttribute("tabindex", 0)
  svg.setAttribute("role", "application")
  svg.onclick = (event) => {
    const here = pointed(svg, event)
    root.put(root.drawn.length === 2 ? [...root.drawn, ...here] : here, root.drawn.length === 2)
  }
  svg.onkeydown = (event) => {
    const move = MOVES[event.key]
    if (!move) return
    event.preventDefault()
    root.put(root.drawn.length === 4 ? turned(root.drawn, move) : [-1, 0, 1, 0], true)
    root.querySelector("svg").focus()
  }
}

function rings(svg, root, data) {
  const most = Math.max(data.answers.length, 1)
  data.points.forEach(([x, y, sign], n) => {
    const where = { cx: place(x), cy: place(-y) }
    const votes = data.answers.filter((one) => one.includes(n)).length
    if (votes) node(svg, "circle", { ...where, r: 2.4 + (3 * votes) / most, class: "other" })
    if (data.right && data.right.includes(n)) {
      node(svg, "rect", { x: where.cx - 3.4, y: where.cy - 3.4, width: 6.8, height: 6.8, class: "right" })
    }
    const mine = root.drawn.includes(n)
    if (mine) node(svg, "circle", { ...where, r: 2.9, class: "mine" })
    if (!root.takes) return
    const said = { role: "checkbox", "aria-checked": mine, "aria-label": `${sign > 0 ? "blue" : "orange"} point ${n + 1}` }
    const box = node(svg, "circle", { ...where, r: 4.2, fill: "transparent", tabindex: 0, ...said })
    box.onkeydown = (event) => {
      if (event.key !== " " && event.key !== "Enter") return
      event.preventDefault()
      turn(root, n)
      root.querySelectorAll("[role=checkbox]")[n].focus()
    }
  })
  svg.onclick = (event) => {
    if (!root.takes) return
    const [x, y] = pointed(svg, event)
    const far = data.points.map((point) => Math.hypot(point[0] - x, point[1] - y))
    const nearest = far.indexOf(Math.min(...far))
    if (far[nearest] < REACH) turn(root, nearest)
  }
}

function turn(root, n) {
  root.put(root.drawn.includes(n) ? root.drawn.filter((one) => one !== n) : [...root.drawn, n], true)
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".sketch")
  if (root.dataset.token !== data.token) {
    root.dataset.token = data.token
    root.drawn = data.drawn || []
  }
  root.takes = data.right === null && !data.board
  root.put = (drawn, whole) => {
    root.drawn = drawn
    if (whole) setStateValue("drawn", drawn)
    draw()
  }
  const draw = () => {
    root.replaceChildren()
    const svg = node(root, "svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: data.kind === "rings" && root.takes ? "group" : "img", "aria-label": data.alt })
    data.points.forEach(([x, y, sign]) => node(svg, "circle", { cx: place(x), cy: place(-y), r: 2, class: sign > 0 ? "blue" : "orange" }))
    const kinds = { line: lines, rings }
    kinds[data.kind](svg, root, data)
  }
  draw()
}
