// The plane of the Playground, and of what a class is asked to draw: its parts and what the page sends it. What is drawn
// (picture.js), what the reader does (edits.js) and the tape (steps.js, path.js) stand before it.

function build(root) {
  const play = { root, rows: [], pending: [], tokens: [], frame: 0, tape: null, cursor: null, size: 500, told: null, seq: 0, sketch: [] }
  const field = document.createElement("div")
  field.className = "field"
  const canvas = document.createElement("canvas")
  const svg = make("svg")
  const lines = make("g"), marks = make("g"), cursor = make("path", { class: "cursor" })
  svg.append(lines, marks, cursor)
  const read = document.createElement("div"), said = document.createElement("p"), words = document.createElement("p")
  read.className = "readout"
  said.className = "said"
  said.setAttribute("aria-live", "polite")
  field.append(canvas, svg, read)
  play.bar = tapeBar({
    count: () => (play.tape ? play.tape.step.length : 0),
    at: () => play.frame,
    go: (frame, byHand) => goTo(play, frame, byHand),
    last: () => (play.data?.along === "C" ? "the largest C" : "the trained machine"),
    open: () => { play.startOnArrival = true; open(play, 0) },
    rested: () => { drawTape(play); later(play) },
  })
  words.className = "sentence"
  const saving = document.createElement("div")
  saving.className = "saving"
  saving.append(saveButton("Save PNG", "Save the plane as PNG", () => savePng(svg, "playground", canvas)))
  const group = document.createElement("div"), beside = document.createElement("div"), chart = make("svg", { class: "path", role: "img" })
  group.className = "along"
  group.setAttribute("role", "group")
  group.setAttribute("aria-label", "Tape of")
  const along = { steps: wordButton("Solver steps", "The steps of the solver, from alpha = 0 to the trained machine"),
    C: wordButton("Growing C", "The regularisation path: one machine for each C"),
    rounds: wordButton("Rounds", "A decomposition: the machine of a small working set, round by round") }
  for (const [name, node] of Object.entries(along)) node.addEventListener("click", () => choose(play, name))
  group.append(...Object.values(along))
  beside.className = "beside"
  beside.append(group, play.bar.node, words, chart)
  const left = document.createElement("div")
  left.className = "left"
  left.append(field, saving)
  const room = document.createElement("div")
  room.className = "room"
  room.append(left, beside)
  root.replaceChildren(room, said)
  play.parts = { canvas, svg, lines, marks, cursor, readout: read, said, sentence: words, along, chart }
  listenToPath(play)
  play.say = (text) => { said.textContent = text }
  root.play = play
  listen(play)
  new ResizeObserver(() => {
    const size = svg.clientWidth
    if (!size || size === play.size) return
    play.size = size
    svg.setAttribute("viewBox", `0 0 ${size} ${size}`)
    if (play.data) drawMachine(play)
  }).observe(svg)
  new ResizeObserver(() => { if (play.data) drawPath(play) }).observe(beside)
  return play
}

function receive(play, data) {
  const known = play.version
  play.data = data
  play.version = data.version
  if (known !== data.version) {
    play.kernel = kernelOf(data.kernel)
    play.rows = []
    play.tape = null
    play.opening = false
    play.bar.halt()
  }
  if (data.seq >= play.seq) { // else more edits are on their way
    play.seq = data.seq
    play.tokens = data.points_text ? data.points_text.split("~") : []
    play.pending = []
    if (play.drag?.dropped) play.drag = null
    if (play.drag) follow(play)
  }
  if (data.token !== play.token) {
    play.token = data.token
    play.sketch = data.sketch || []
  }
  if (data.tape && !play.tape) {
    play.tape = unroll(data.tape, data.examples.length)
    play.opening = false
    play.frame = Math.min(data.step, play.tape.step.length - 1)
    play.told = data.step
  } else if (data.tape && data.step !== play.told && data.step !== play.serverStep) {
    play.frame = Math.min(data.step, play.tape.step.length - 1) // another address
  } else if (!data.tape) play.tape = null
  play.serverStep = data.step
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".plane")
  const play = root.play || build(root)
  play.send = (name, value) => (name === "sketch" ? setStateValue : setTriggerValue)(name, value)
  root.classList.toggle("pathed", data.along === "C" && data.machines.length === 1)
  root.classList.toggle("drawn-on", Boolean(data.kind))
  const drawn = `${data.version} ${data.mode} ${data.step} ${Boolean(data.tape)} ${data.seq} ${data.alt}`
  if (play.drawn === drawn) return
  play.drawn = drawn
  const begun = performance.now()
  receive(play, data)
  play.parts.svg.setAttribute("aria-label", data.alt)
  play.parts.svg.dataset.mode = data.mode
  play.parts.svg.setAttribute("role", data.mode ? "application" : "img")
  if (data.mode) play.parts.svg.setAttribute("tabindex", "0")
  drawMachine(play)
  drawTape(play)
  root.dataset.took = (performance.now() - begun).toFixed(1) // milliseconds of drawing
  root.dataset.version = data.version
  if (play.tape && play.startOnArrival) {
    play.startOnArrival = false
    play.bar.toggle()
  }
}
