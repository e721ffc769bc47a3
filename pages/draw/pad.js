// The prepared digit with arrows around it. Places are counted here, so that keys pressed while the page is at work add
// up; the page's own place is taken over once it is the last one sent, or none that was sent.

const ACTS = [
  // [key, other key, index of the place, sign, word or icon on the button, words, cell]
  ["ArrowUp", "", 1, -1, "up", "Up a pixel (arrow key)", "up"],
  ["ArrowLeft", "", 0, -1, "left", "Left a pixel (arrow key)", "left"],
  ["ArrowRight", "", 0, 1, "right", "Right a pixel (arrow key)", "right"],
  ["ArrowDown", "", 1, 1, "down", "Down a pixel (arrow key)", "down"],
  ["[", "a", 2, 1, "turnleft", "Turn left by 5° (key [ or A)", "turnleft"],
  ["]", "d", 2, -1, "turnright", "Turn right by 5° (key ] or D)", "turnright"],
  ["-", "_", 3, -1, "thin", "Thinner (key −)", "thin"],
  ["+", "=", 3, 1, "thick", "Thicker (key +)", "thick"],
]

// [path, how the picture is turned]
const ARROW = "M8 2 13.5 8H9.5V14H6.5V8H2.5Z"
const TURN = "M8 3V0.5L3.5 4 8 7.5V5A4 4 0 1 1 4 9H2A6 6 0 1 0 8 3Z"
const ICONS = {
  up: [ARROW, ""],
  right: [ARROW, "rotate(90 8 8)"],
  down: [ARROW, "rotate(180 8 8)"],
  left: [ARROW, "rotate(270 8 8)"],
  turnleft: [TURN, ""],
  turnright: [TURN, "matrix(-1 0 0 1 16 0)"],
}

function face(node, name) {
  if (!ICONS[name]) return node.append(name)
  const [shape, turned] = ICONS[name]
  node.append(icon(shape, 16, turned))
}

function build(root) {
  const grid = element("div", "grid"), frame = element("div", "frame"), picture = element("img")
  frame.tabIndex = 0
  frame.setAttribute("role", "application")
  frame.append(picture)
  grid.append(frame)
  root.pad = { frame, picture, buttons: [], at: [0, 0, 0, 0], sent: [] }
  for (const act of ACTS) {
    const node = button("", "", () => move(root, act), act[5])
    face(node, act[4])
    node.style.gridArea = act[6]
    root.pad.buttons.push(node)
  }
  const back = "Back to the digit as it was prepared (key 0)"
  const reset = button("", "Reset", () => send(root, [0, 0, 0, 0]), back, true)
  reset.style.gridArea = "reset"
  root.pad.buttons.push(reset)
  grid.append(...root.pad.buttons)
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const act = ACTS.find(([key, other]) => key === event.key || other === event.key.toLowerCase())
    if (act) move(root, act)
    else if (event.key === "0") send(root, [0, 0, 0, 0])
    else return
    event.preventDefault()
  })
  root.replaceChildren(grid)
}

function move(root, [, , index, sign]) {
  const { pad } = root
  const { step, limits } = pad.data
  const next = [...pad.at]
  next[index] = Math.min(limits[index], Math.max(-limits[index], next[index] + sign * step[index]))
  if (next[index] !== pad.at[index]) send(root, next)
}

function send(root, place) {
  const { pad } = root
  if (!pad.data.picture) return
  pad.at = place
  pad.sent.push(place)
  if (pad.sent.length > 100) pad.sent.shift()
  pad.tell([...pad.sent])
}

function same(a, b) {
  return a.every((value, i) => value === b[i])
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".pad")
  if (!root.pad) build(root)
  const { pad } = root
  pad.data = data
  pad.tell = (places) => setTriggerValue("moved", places)
  const answered = pad.sent.findLastIndex((place) => same(place, data.at))
  pad.sent = answered < 0 ? [] : pad.sent.slice(answered + 1)
  if (!pad.sent.length) pad.at = [...data.at]
  pad.frame.setAttribute("aria-label", data.alt)
  pad.picture.alt = ""
  pad.picture.hidden = !data.picture
  if (data.picture) pad.picture.src = data.picture
  for (const node of pad.buttons) node.disabled = !data.picture
}
