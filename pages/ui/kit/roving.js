// Common to scripts with many buttons; they follow below. Together these are one stop of the Tab key, and the arrow keys
// lead from one to the next. `root.stopped` selects them.

function stops(root) {
  return [...root.querySelectorAll(root.stopped)]
}

function setStop(root, node) {
  for (const other of stops(root)) other.tabIndex = other === node ? 0 : -1
}

function vertical(all, node, down) {
  const here = node.getBoundingClientRect()
  const boxes = all.map((other) => [other, other.getBoundingClientRect()])
  const beyond = boxes.filter(([, box]) => (down ? box.top >= here.bottom - 2 : box.bottom <= here.top + 2))
  if (!beyond.length) return node
  const edge = down ? Math.min(...beyond.map(([, box]) => box.top)) : Math.max(...beyond.map(([, box]) => box.top))
  const line = beyond.filter(([, box]) => Math.abs(box.top - edge) < 3)
  const off = ([, box]) => Math.abs(box.left - here.left)
  return line.reduce((a, b) => (off(b) < off(a) ? b : a))[0]
}

function neighbour(root, node, key) {
  const all = stops(root)
  const at = all.indexOf(node)
  if (at < 0) return null
  const within = all.filter((other) => !other.matches(".save")) // Home and End leave out what only follows
  switch (key) {
    case "ArrowLeft": return all[Math.max(0, at - 1)]
    case "ArrowRight": return all[Math.min(all.length - 1, at + 1)]
    case "ArrowUp": return vertical(all, node, false)
    case "ArrowDown": return vertical(all, node, true)
    case "Home": return within[0]
    case "End": return within.at(-1)
  }
  return null
}

// keys: those that lead on; others are left to the page.
function rove(root, selector, keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"]) {
  root.stopped = selector
  root.addEventListener("focusin", (event) => {
    if (event.target.matches(selector)) setStop(root, event.target)
  })
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || !keys.includes(event.key)) return
    const to = neighbour(root, event.target.closest(selector), event.key)
    if (!to) return
    to.focus()
    event.preventDefault()
    event.stopPropagation() // the arrow keys of the view of one example lead elsewhere
  })
}

