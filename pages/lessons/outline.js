// Brings what a step of a lesson speaks of into view, once a step, by scrolling as little as it takes.

const PATIENCE = 20000, LOOK = 150 // milliseconds, in all and between two looks
const ENOUGH = 0.6 // of the height: a last one that is tall may begin so far down, to leave the others in view

const drawn = () => document.querySelector("[data-testid=stApp][data-test-script-state=notRunning]") !== null

// The part of the window that nothing lies over: below the header, or a phone's banner.
function free(main) {
  const banner = document.querySelector(".st-key-lesson")
  const above = banner && getComputedStyle(banner).position === "sticky" ? banner.offsetHeight : 0
  const top = Math.max(main.getBoundingClientRect().top, 56) + above + 12
  return { top, height: window.innerHeight - 12 - top }
}

function bring(nodes) {
  const main = document.querySelector("[data-testid=stMain]")
  const { top, height } = free(main)
  const first = nodes[0].getBoundingClientRect(), last = nodes.at(-1).getBoundingClientRect()
  const whole = last.bottom - first.top <= height
  const begin = whole || last.top - first.top <= ENOUGH * height ? first.top : last.top
  const down = Math.min(begin - top, Math.max(last.bottom - top - height, 0))
  main.scrollBy({ top: begin < top ? begin - top : down, behavior: "instant" })
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".outline")
  if (root.step === data.step) return
  root.step = data.step
  document.querySelector(".st-key-lesson")?.scrollTo(0, 0)
  const question = document.querySelector(".st-key-lesson_question")
  question?.setAttribute("tabindex", "0") // on a phone it scrolls, also by keys
  question?.scrollTo(0, 0)
  let before = "", until = Date.now() + PATIENCE
  const stop = () => { until = 0 } // whoever scrolls by themselves is left alone
  for (const kind of ["wheel", "touchmove", "keydown"]) window.addEventListener(kind, stop, { once: true })
  const look = () => {
    if (Date.now() > until || root.step !== data.step || !root.isConnected) return
    const nodes = data.keys.map((key) => document.querySelector(`.st-key-${key}`)).filter(Boolean)
    const seen = nodes.filter((node) => node.checkVisibility())
    const now = seen.map((node) => Object.values(node.getBoundingClientRect().toJSON())).join()
    if (drawn() && seen.length && now === before) return bring(seen)
    before = now
    setTimeout(look, LOOK)
  }
  look()
}
