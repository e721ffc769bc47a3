// A gallery as one PNG: what its tiles show, drawn again from the montage. The scripts that use it follow below.

const FINE = 2 // pixels of the PNG to one of the screen
const RINGS = { // strokes from the outside in: width, distance of its middle from the edge, dots
  free: [[2, 1]],
  bound: [[1.7, 0.9], [1.7, 4.1]],
  virtual: [[3, 1.5, [3, 3]]],
  "virtual-bound": [[3, 1.5, [3, 3]], [2, 5]],
}

function paintTexts(pen, nodes, origin) {
  for (const node of nodes) {
    if (!node.textContent) continue
    const [box, style] = [node.getBoundingClientRect(), getComputedStyle(node)]
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`
    pen.fillStyle = style.color
    pen.textBaseline = "middle"
    pen.fillText(node.textContent, box.x - origin.x, box.y - origin.y + box.height / 2)
  }
}

function paintTile(pen, node, sheet, data, i, origin) {
  const [box, inner] = [node.getBoundingClientRect(), node.querySelector(".picture").getBoundingClientRect()]
  const [x, y] = [box.x - origin.x, box.y - origin.y]
  pen.fillStyle = getComputedStyle(node).backgroundColor
  pen.fillRect(x, y, box.width, box.height)
  const { width, height, columns } = data
  pen.globalCompositeOperation = data.ink ? "multiply" : "source-over"
  const from = [(i % columns) * width, Math.floor(i / columns) * height, width, height]
  pen.drawImage(sheet, ...from, inner.x - origin.x, inner.y - origin.y, inner.width, inner.height)
  pen.globalCompositeOperation = "source-over"
  pen.strokeStyle = getComputedStyle(node).borderTopColor
  for (const [width, at, dots] of RINGS[node.dataset.ring] ?? []) {
    pen.lineWidth = width
    pen.setLineDash(dots ?? [])
    pen.strokeRect(x + at, y + at, box.width - 2 * at, box.height - 2 * at)
  }
  pen.setLineDash([])
  pen.fillStyle = pen.strokeStyle
  if (node.dataset.linked === "true") pen.fillRect(x - 11, y + box.height / 2 - 1, 11, 2)
  paintTexts(pen, node.querySelectorAll(".strip span"), origin)
}

async function saveGallery(root, data) {
  const sheet = new Image()
  sheet.src = data.sheet
  await sheet.decode()
  const origin = root.getBoundingClientRect()
  const tiles = [...root.querySelectorAll(".tile")]
  const boxes = tiles.map((node) => node.getBoundingClientRect())
  const canvas = document.createElement("canvas")
  canvas.width = FINE * (Math.max(...boxes.map((box) => box.right)) - origin.x + 4)
  canvas.height = FINE * (Math.max(...boxes.map((box) => box.bottom)) - origin.y + 4)
  const pen = canvas.getContext("2d")
  pen.fillStyle = pageColour(root)
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.scale(FINE, FINE)
  pen.imageSmoothingEnabled = false
  tiles.forEach((node, i) => {
    if (node.dataset.empty !== "true") paintTile(pen, node, sheet, data, i, origin)
  })
  paintTexts(pen, root.querySelectorAll(".row-label"), origin)
  canvas.toBlob((blob) => download(blob, `${data.file}.png`))
}
