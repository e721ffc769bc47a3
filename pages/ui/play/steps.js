// The tape: frames of machines, and a sentence that says what is seen of each. A tape goes along the steps of the solver,
// along growing C (path.js), or along the rounds of a decomposition: points outside the working set are faint, those that
// have entered it are ringed. The kernel values of grid and examples are computed once; a frame is their combination.

function unroll(tape, n) {
  const alphas = []
  tape.step.forEach((_, t) => {
    const fresh = t === 0 || tape.stage[t] !== tape.stage[t - 1]
    const alpha = fresh ? new Array(n).fill(0) : alphas[t - 1].slice()
    tape.changed[t].forEach((i, k) => { alpha[i] = tape.alpha[t][k] })
    alphas.push(alpha)
  })
  return { ...tape, alphas, events: tape.C && eventsOf(tape.C, alphas) }
}

const number = (value) => {
  const size = Math.abs(value)
  return size === 0 ? "0" : size < 0.001 ? value.toExponential(0) : String(+value.toPrecision(2))
}
const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(value && Math.abs(value) < 0.1 ? 4 : 2)
const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`

// What the tape goes along: what was chosen last, also before the server has answered
const alongOf = ({ asked, data }) => asked ?? data.along

function nameOf(play, i) {
  const [, , , parent, copy] = play.data.examples[i]
  return copy ? `${parent}′` : String(i)
}

function moved(play, t) {
  const { tape, data } = play
  const [i, j] = tape.pair[t]
  const change = [i, j].map((k) => tape.alphas[t][k] - tape.alphas[t - 1][k])
  const by = number(Math.abs(change[0]))
  const [a, b] = [nameOf(play, i), nameOf(play, j)]
  if (change[0] > 0 === change[1] > 0) return `the alphas of ${a} and ${b} ${change[0] > 0 ? "grow" : "shrink"} by ${by}`
  const [up, down] = change[0] > 0 ? [a, b] : [b, a]
  return `the alpha of ${up} grows and that of ${down} shrinks by ${by}`
}

// The examples that entered the working set of a round
function enteredIn({ tape, frame }) {
  if (!tape?.inside) return []
  const before = new Set(frame ? tape.inside[frame - 1] : [])
  return tape.inside[frame].filter((i) => !before.has(i))
}

function sentenceOfRound(play) {
  const { tape, frame, data } = play, rounds = tape.step.length - 1, set = tape.inside[frame].length
  if (!frame) return `Round 0 of ${rounds}: the working set has ${set} of ${data.examples.length} points. There is no machine yet.`
  const size = many(set, "point"), entered = many(enteredIn(play).length, "point")
  const begin = frame > 1 ? `${entered} entered the working set, which now has ${size}` : `the working set has ${size}`
  const held = many(tape.alphas[frame].filter((a) => a > 0).length, "support vector")
  const last = frame === rounds ? " No pair of points violates optimality: this is the trained machine." : ` The worst pair of all points violates optimality by ${number(tape.gap[frame])}.`
  return `Round ${frame} of ${rounds}: ${begin}. The machine has ${held}.${last}`
}

function sentence(play) {
  const { tape, frame, data } = play
  if (!data.machines.length) return ""
  if (data.machines.length > 1) return "Solver steps, growing C and rounds show one machine: choose a colour at “Machine of”."
  if (alongOf(play) === "rounds") return tape ? sentenceOfRound(play) : "Play the rounds of a decomposition: the solver optimises a few points, then the worst violators among the other points join them."
  if (alongOf(play) === "C") return tape ? sentenceOfPath(play) : "Growing C: one machine for each C, from 0.01 to 10,000."
  if (!tape) return "Play the solver's own steps: pair after pair, from no support vector to this machine."
  const stage = tape.stage[frame], total = tape.steps[stage].toLocaleString("en"), step = tape.step[frame].toLocaleString("en")
  const which = tape.steps.length > 1 ? (stage ? ", with copies" : ", first machine") : ""
  const machines = machinesNow(play)
  const wrong = data.points.filter(([x, y, label]) => isWrong(play, machines, x, y, label)).length
  const now = `${many(machines[0].alpha.filter((a) => a > 0).length, "support vector")}, ${many(wrong, "error")}`
  if (tape.step[frame] === 0) {
    const begin = stage ? "The virtual copies are added. Every alpha is 0 again." : "Every alpha is 0."
    return `Step 0 of ${total}${which}: ${begin}`
  }
  const last = frame === tape.trained ? " This is the trained machine." : ""
  if (!tape.pair[frame].length) {
    const gone = tape.step[frame] - (frame && tape.stage[frame - 1] === stage ? tape.step[frame - 1] : 0)
    return `Step ${step} of ${total}${which}: ${gone} pairs changed at once; the worst remaining violation is ${number(tape.gap[frame])}; ${now}.${last}`
  }
  const [i, j] = tape.pair[frame].map((k) => nameOf(play, k))
  return `Step ${step} of ${total}${which}: pair ${i}, ${j} violates optimality by ${number(tape.violation[frame])}; ${moved(play, frame)}; ${now}.${last}`
}

function drawTape(play) {
  const { parts, tape, frame, data, bar } = play
  bar.draw()
  const words = sentence(play)
  parts.sentence.textContent = play.opening ? "Loading the steps …" : words
  bar.slider.setAttribute("aria-valuetext", words)
  const ready = data.machines.length === 1
  for (const node of bar.node.children) node.disabled = !ready
  for (const [name, node] of Object.entries(parts.along)) {
    node.setAttribute("aria-pressed", name === alongOf(play))
    node.disabled = !ready
  }
  drawPath(play)
  play.root.dataset.frame = tape ? frame : ""
}

function goTo(play, frame, tell) {
  if (!play.tape) return open(play, frame)
  play.frame = Math.min(Math.max(frame, 0), play.tape.step.length - 1)
  drawMachine(play)
  drawTape(play)
  if (tell) later(play)
}

// The address follows once the hand rests: no server trip for a frame. It says of which tape the step is: the server
// may have closed that one since.
function later(play) {
  clearTimeout(play.telling)
  play.telling = setTimeout(() => {
    play.told = play.frame
    play.send("tape", { step: play.frame, along: alongOf(play), of: play.data.of })
  }, 700)
}

// A tape that is no more: the step at which the hand rested was a step of it.
function forgetTape(play) {
  clearTimeout(play.telling)
  play.tape = null
}

function open(play, frame) {
  if (play.data.machines.length !== 1 || play.opening) return
  play.opening = true
  play.wanted = frame
  drawTape(play)
  play.send("tape", { step: frame, along: alongOf(play), of: "" })
}

// Another tape: the path opens at the trained machine, the steps are opened by Play.
function choose(play, along) {
  if (along === alongOf(play)) return
  clearTimeout(play.telling)
  play.bar.halt()
  Object.assign(play, { asked: along, tape: null, opening: false })
  play.send("tape", { step: -1, along, of: "" })
  drawMachine(play)
  drawTape(play)
}

