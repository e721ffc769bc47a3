// Common to scripts that play something frame by frame; they follow below. Five buttons and a slider.

const PLAYED = 9000 // milliseconds that a long tape plays, at most
const SLOWEST = 600 // milliseconds of a frame, at most: a tape of three steps is to be seen too
const ICONS = {
  first: "M3 3H5V13H3ZM13 3V13L6 8Z",
  back: "M11 3V13L4 8Z",
  play: "M4 2V14L13 8Z",
  pause: "M4 3H7V13H4ZM9 3H12V13H9Z",
  on: "M5 3V13L12 8Z",
  last: "M11 3H13V13H11ZM3 3V13L10 8Z",
}

function drawIcon(node, name) {
  if (node.dataset.icon === name) return
  node.dataset.icon = name
  node.replaceChildren(icon(ICONS[name], 14))
}

function iconButton(name, label, act) {
  const node = button("", "", act, label)
  drawIcon(node, name)
  return node
}

// count(): frames, 0 while they are not here; at(): the one shown; go(frame, byHand): show that one, the nearest there
// is; open(): Play without frames; rested(): it has stopped. last(): what the last frame is.
function tapeBar({ count, at, go, last, open = () => {}, rested = () => {} }) {
  const node = element("div", "tape"), slider = element("input"), bar = { node, slider, timer: 0 }
  const byHand = (frame) => { if (bar.timer) bar.pause(); go(frame, true) }
  bar.halt = () => { cancelAnimationFrame(bar.timer); bar.timer = 0 }
  bar.pause = () => { bar.halt(); bar.draw(); rested() }
  bar.toggle = () => {
    if (bar.timer) return bar.pause()
    if (!count()) return open()
    const from = at() >= count() - 1 ? 0 : at(), pace = Math.min(SLOWEST, PLAYED / count()), begun = performance.now()
    const tick = () => {
      go(from + Math.floor((performance.now() - begun) / pace), false)
      if (at() >= count() - 1) return bar.pause()
      bar.timer = requestAnimationFrame(tick)
    }
    bar.timer = requestAnimationFrame(tick)
    return bar.draw()
  }
  const toPlay = iconButton("play", "Play the tape", () => bar.toggle())
  const toLast = iconButton("last", "To the last step", () => byHand(count() ? count() - 1 : 1e4))
  bar.draw = () => {
    slider.max = count() ? count() - 1 : 1
    slider.value = count() ? at() : 1
    drawIcon(toPlay, bar.timer ? "pause" : "play")
    toPlay.title = bar.timer ? "Pause the tape" : "Play the tape"
    toPlay.setAttribute("aria-label", toPlay.title)
    toLast.title = `To the last step: ${last()}`
    toLast.setAttribute("aria-label", toLast.title)
  }
  const by = (d) => () => byHand(count() ? at() + d : d > 0 ? 1 : 1e4)
  slider.type = "range"
  slider.min = 0
  slider.setAttribute("aria-label", "Step of the tape")
  slider.addEventListener("input", () => byHand(+slider.value))
  node.append(
    iconButton("first", "To the first step", () => byHand(0)),
    iconButton("back", "One step back", by(-1)),
    toPlay,
    iconButton("on", "One step forward", by(1)),
    toLast,
    slider,
  )
  return bar
}
