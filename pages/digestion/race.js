// Solvers side by side on one clock, the kernel values that they have computed: support vectors and cache rows.

const TICKS = 241 // frames of the tape
const WIDE = 400, HIGH = 200, LEFT = 52, TOP = 12, BOTTOM = 22 // of a picture, its own units

const whole = (value) => Math.round(value).toLocaleString("en")
const million = (value) => `${(value / 1e6).toFixed(2)} million`

// The last line that is known of a side at some time: its place.
function placeAt({ evals }, time) {
  let low = 0, high = evals.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (evals[middle] <= time) low = middle
    else high = middle - 1
  }
  return low
}

const timeOf = (race) => (race.end * race.frame) / (TICKS - 1)

function steps(side, last, time, px, py) {
  let path = `M${px(side.evals[0])} ${py(side.svs[0])}`
  for (let k = 1; k <= last; k++) path += `H${px(side.evals[k])}V${py(side.svs[k])}`
  return `${path}H${px(Math.min(time, side.evals[side.evals.length - 1]))}`
}

function drawSide(race, side, parts) {
  const { rows } = race.data, time = timeOf(race)
  const px = (x) => LEFT + (x / race.end) * (WIDE - LEFT - 8), py = (y) => HIGH - BOTTOM - (y / race.most) * (HIGH - TOP - BOTTOM)
  const end = side.evals[side.evals.length - 1], k = placeAt(side, time), svs = side.svs[k], spilled = Math.max(svs - rows, 0)
  const over = Math.min(rows, race.most), now = steps(side, k, time, px, py), width = px(Math.min(time, end)) - px(0)
  const area = `${now}V${py(0)}H${px(0)}Z`
  const clip = (id, y, height) => {
    const node = make("clipPath", { id })
    node.append(make("rect", { x: px(0), y, width: Math.max(width, 0), height: Math.max(height, 0) }))
    return node
  }
  const nodes = [
    make("path", { d: steps(side, side.evals.length - 1, end, px, py), class: "ahead" }),
    clip(`${parts.id}-in`, py(over), py(0) - py(over)),
    clip(`${parts.id}-out`, TOP - 6, py(over) - TOP + 6),
    make("path", { d: area, class: "held", "clip-path": `url(#${parts.id}-in)` }),
    make("path", { d: area, class: "spilled", "clip-path": `url(#${parts.id}-out)` }),
    make("path", { d: now, class: "now" }),
    make("path", { d: `M${px(0)} ${TOP}V${py(0)}H${WIDE - 8}`, class: "axis" }),
    make("text", { x: px(0) - 4, y: TOP + 8, class: "end" }, whole(race.most)),
    make("text", { x: px(0) - 4, y: py(0), class: "end" }, "0"),
    make("text", { x: WIDE - 8, y: HIGH - 6, class: "end" }, million(race.end)),
    make("text", { x: px(0), y: HIGH - 6 }, "kernel evaluations"),
    make("text", { transform: `translate(10 ${py(race.most / 2)}) rotate(-90)`, class: "middle" }, "support vectors"),
  ]
  if (rows <= race.most) {
    nodes.push(make("path", { d: `M${px(0)} ${py(rows)}H${WIDE - 8}`, class: "rows" }))
    if (py(rows) > TOP + 20 && py(rows) < py(0) - 12) nodes.push(make("text", { x: px(0) - 4, y: py(rows) + 4, class: "end" }, whole(rows)))
  }
  parts.svg.replaceChildren(...nodes)
  const scale = Math.max(rows, race.most)
  parts.box.style.width = `${(100 * rows) / scale}%`
  parts.fill.style.width = `${(100 * Math.min(svs, rows)) / scale}%`
  parts.over.style.left = parts.box.style.width
  parts.over.style.width = `${(100 * spilled) / scale}%`
  parts.count.textContent = whole(svs)
  const spent = `${million(Math.min(time, end))} kernel evaluations${time >= end && side.done ? ", done" : ""}`
  const taken = `${whole(Math.min(svs, rows))} of ${whole(rows)} cache rows used${spilled ? `, ${whole(spilled)} support vector${spilled === 1 ? "" : "s"} without a row` : ""}`
  parts.told.textContent = `${spent}; ${taken}`
}

function sentence(race) {
  const time = timeOf(race)
  const told = race.data.sides.map((side) => {
    const k = placeAt(side, time), done = side.done && time >= side.evals[side.evals.length - 1]
    return `${side.name.toLowerCase()}: ${whole(side.svs[k])} support vectors${done ? ", done" : ""}`
  })
  return `After ${million(time)} kernel evaluations: ${told.join("; ")}.`
}

function drawRace(race) {
  race.data.sides.forEach((side, s) => drawSide(race, side, race.parts[s]))
  race.bar.draw()
  race.words.textContent = sentence(race)
  race.bar.slider.setAttribute("aria-valuetext", race.words.textContent)
  race.root.dataset.frame = race.frame
}

const part = (tag, name, inside) => inside.appendChild(element(tag, name))

function sideParts(inside, name, s) {
  const side = part("section", "side", inside), head = part("div", "head", side)
  part("h3", "name", head).textContent = name
  const number = part("p", "number", head), count = part("strong", "count", number)
  number.append(" support vectors")
  const svg = make("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" })
  side.append(svg)
  const cache = part("div", "cache", side), fill = part("div", "fill", cache), over = part("div", "over", cache)
  const box = part("div", "box", cache)
  return { id: `race-${s}`, svg, count, fill, over, box, told: part("p", "told", side) }
}

function build(root) {
  const race = { root, frame: TICKS - 1 }
  race.bar = tapeBar({
    count: () => TICKS,
    at: () => race.frame,
    go: (frame) => { race.frame = Math.min(Math.max(frame, 0), TICKS - 1); drawRace(race) },
    last: () => "all solvers are done",
  })
  root.race = race
  return race
}

function receive(race, data) {
  const sides = element("div", "sides")
  race.data = data
  race.end = Math.max(1, ...data.sides.flatMap((side) => side.evals))
  race.most = Math.max(1, ...data.sides.flatMap((side) => side.svs))
  race.parts = data.sides.map((side, s) => sideParts(sides, side.name, s))
  race.parts.forEach((parts, s) => parts.svg.setAttribute("aria-label", s ? "Another solver, described above" : data.alt))
  race.root.replaceChildren(sides, race.bar.node)
  race.words = part("p", "sentence", race.root)
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".race")
  const race = root.race || build(root)
  if (root.dataset.version === data.version) return
  receive(race, data)
  drawRace(race)
  root.dataset.version = data.version
}
