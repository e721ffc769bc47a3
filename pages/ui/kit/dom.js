// First in every component: what it is built of. Text is set as text, never as markup.

function element(tag, className = "", text = "") {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text) node.textContent = text
  return node
}

// title: shown on hover, and read out in place of the text unless that names it.
function button(className, text, act, title = "", named = false) {
  const node = element("button", className, text)
  node.type = "button"
  if (title) node.title = title
  if (title && !named) node.setAttribute("aria-label", title)
  if (act) node.addEventListener("click", act)
  return node
}
