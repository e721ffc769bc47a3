// The plane of the Playground, and of what a class is asked to draw: its parts and what the page sends it. What is drawn
// (picture.js), what the reader does (edits.js) and the tape (steps.js, path.js) stand before it.

function build(root) {
  const play = { root, rows: [], tokens: [], known: new Map(), trails: [], before: [], cleared: 0, frame: 0, tape: null, cursor: null, size: 500, told: null, asked: null, seq: 0, sketch: [] }
  const [room, left, field, beside, group] = ["room", "left", "field", "beside", "along"].map((name) => element("div", name))
  const canvas = element("canvas"), readout = element("div", "readout"), saving = element("div", "saving")
  const svg = make("svg"), lines = make("g"), marks = make("g"), cursor = make("path", { class: "cursor" })
  const said = element("p", "said"), sentence = element("p", "sentence"), chart = make("svg", { class: "path", role: "img" })
  svg.append(lines, marks, cursor)
  said.setAttribute("aria-live", "polite")
  play.bar = tapeBar({
    count: () => (play.tape ? play.tape.step.length : 0),
    at: () => play.frame,
    go: (frame, byHand) => goTo(play, frame, byHand),
    last: () => (play.data && alongOf(play) === "C" ? "the largest C" : "the trained machine"),
    open: () => { play.startOnArrival = true; open(play, 0) },
    rested: () => { drawTape(play); later(play) },
  })
  saving.append(saveButton("Save PNG", "Save the plane as PNG", () => savePng(svg, "playground", canvas)))
  group.setAttribute("role", "group")
  group.setAttribute("aria-label", "What the tape shows")
  const word = (name, text, title) => button("", text, () => choose(play, name), title, true)
  const along = {
    steps: word("steps", "Solver steps", "The steps of the solver, from alpha = 0 to the trained machine"),
    C: word("C", "Growing C", "The regularisation path: one machine for each C"),
    rounds: word("rounds", "Rounds", "A decomposition: the machine of a small working set, round by round"),
  }
  group.append(...Object.values(along))
  field.append(canvas, svg, readout)
  const hand = buildHand(play)
  left.append(hand, field, saving)
  beside.append(group, play.bar.node, sentence, chart)
  room.append(left, beside)
  root.replaceChildren(room, said)
  play.parts = { hand, canvas, svg, lines, marks, cursor, readout, said, sentence, along, chart }
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
    forgetTape(play)
    play.opening = false
    play.bar.halt()
  }
  learn(play)
  if (data.seq >= play.seq) { // else more edits are on their way
    agree(play)
    if (play.drag) follow(play)
  }
  if (data.token !== play.token) {
    play.token = data.token
    play.sketch = data.sketch || []
  }
  if (data.along === play.asked) play.asked = null
  const tape = play.asked ? null : data.tape // else it goes along what was left since
  if (tape && !play.tape) {
    play.tape = unroll(tape, data.examples.length)
    play.opening = false
    play.frame = Math.min(data.step, play.tape.step.length - 1)
    play.told = data.step
  } else if (tape && data.step !== play.told && data.step !== play.serverStep) {
    play.frame = Math.min(data.step, play.tape.step.length - 1) // another address
  } else if (!tape) forgetTape(play)
  play.serverStep = data.step
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".plane")
  const play = root.play || build(root)
  play.send = (name, value) => (name === "sketch" ? setStateValue : setTriggerValue)(name, value)
  root.classList.toggle("drawn-on", Boolean(data.kind))
  const drawn = `${data.version} ${data.hand ?? data.mode} ${data.sample} ${data.noisy} ${data.step} ${Boolean(data.tape)} ${data.seq} ${data.alt}`
  if (play.drawn === drawn) return
  play.drawn = drawn
  const begun = performance.now()
  receive(play, data)
  play.parts.svg.setAttribute("aria-label", data.alt)
  drawHand(play)
  play.parts.svg.setAttribute("role", modeOf(play) ? "application" : "img")
  if (modeOf(play)) play.parts.svg.setAttribute("tabindex", "0")
  drawMachine(play)
  drawTape(play)
  root.dataset.took = (performance.now() - begun).toFixed(1) // milliseconds of drawing
  root.dataset.version = data.version
  if (play.tape && play.startOnArrival) {
    play.startOnArrival = false
    play.bar.toggle()
  }
}
