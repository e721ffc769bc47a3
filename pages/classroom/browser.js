// The word by which the class knows a student, as their browser keeps it: whoever opens the address anew is the same.
// data.who: null where the session does not know it, else what to keep. A word is said once: it may be of another class.

const PLACE = "svmlab-class"

export default function ({ data, parentElement, setStateValue }) {
  try {
    if (data.who !== null) return localStorage.setItem(PLACE, data.who)
    const said = localStorage.getItem(PLACE)
    if (said && said !== parentElement.said) setStateValue("said", (parentElement.said = said))
  } catch {} // a browser that keeps nothing
}
