"""Class: a room that predicts together, by phone, before the board shows what the machine does."""

from contextlib import suppress
from functools import partial, wraps

import streamlit as st

from pages.classroom import addresses, pictures, session, together
from pages.classroom.session import Asked, Class, Question
from pages.lessons import course
from pages.lessons.parts import MAX_SEED
from pages.ui.kit import parameters, present, roles, short_links, state, ways
from pages.ui.kit.component import component
from pages.ui.kit.text import command, many, percent, plain
from pages.ui.kit.ways import button, download
from pages.ui.run import stored

WHO = "class_who"  # in the session: the word by which a student is known; empty after leaving, to join anew
WHOLE = "class_whole"  # in the session: a callback of a fragment changed more than the fragment
PUT = "class_put"  # in the session: how often a question of a lesson went to the board by itself, and which one last
SHOWN = 40  # names on the board
BOARD, PHONE = 0.5, 1.0  # seconds between two looks: of the board, of a phone
COMMAND = command("pages.classroom")
KINDS = {"lesson": "A lesson's question", "number": "A result of the run", "line": "Draw the line",
         "rings": "Ring the support vectors", "own": "Your own question"}  # fmt: skip


def whole(now: bool = False) -> None:
    """In a fragment: draw the whole page anew, now, or where a callback asks for it."""
    if st.session_state.pop(WHOLE, now):
        st.rerun()


# The teacher


def without_doors() -> None:
    """The app serves nobody else: how to let the room in."""
    st.markdown("Students can answer by phone. To allow this, stop the app and start it with this command:")
    st.code(COMMAND, language=None)
    st.caption(
        "The command prints the address for students. Without the command, the app can only be reached from this "
        "computer. pages/README.md explains how students join, and which risks remain."
    )


def storing(change):
    """A callback that adds to what is kept of a class: says why where it cannot."""

    @state.callback
    @wraps(change)
    def changing(*args):
        try:
            change(*args)
        except session.Full as error:
            state.tell_later(f":material/block: {error}")

    return changing


@storing
def begin(seed: int) -> None:
    """Callback: open a class."""
    session.begin(seed)


def opening() -> None:
    """No class is open: open one."""
    seed = parameters.number(f"classroom.{course.SEED}", 0, MAX_SEED, 0, key="class_seed_new")
    button("Open a class", "groups", "class_open", begin, int(seed), help="Lets students join.", type="primary")


def invitation(one: Class) -> None:
    """The address, its code, and who has joined."""
    urls = addresses.urls()
    if not urls:
        st.warning(
            "No network was found. Connect this computer to a network, or give its address when you start the app: "
            f"`{COMMAND} --address …`"
        )
        joined(one, urls)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.image(short_links.qr(urls[0]), width=present.scaled(160), alt=f"QR code of {urls[0]}")
        with st.container(width="stretch"):
            st.markdown(f"### {urls[0].removeprefix('http://')}")
            others = ", ".join(url.removeprefix("http://") for url in urls[1:])
            st.caption("Type this address, or scan the code." + (f" Other addresses: {others}." if others else ""))
            joined(one, urls)


@state.fragment(run_every=BOARD)
def joined(one: Class, urls: list[str]) -> None:
    """Who is there; the page anew once the computer is in another network."""
    whole(addresses.urls() != urls)
    names = [plain(name) for name in one.people.values() if name]
    without = len(one.people) - len(names)
    more = [f"{without} without a name"] if without else []
    more += [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    st.markdown(f"**{many(len(one.people), 'student')} joined.** {', '.join([*names[:SHOWN], *more])}")


def chosen_question(one: Class) -> Question | None:
    """The question that the teacher puts together."""
    kind = st.segmented_control("Question", list(KINDS), format_func=KINDS.get, default="lesson", key="class_kind",
                                required=True, help="What the class predicts.")  # fmt: skip
    if kind == "lesson":
        # Other widgets each time: a browser that has not drawn them yet still sends what it showed before.
        time, last, step = st.session_state.get(PUT, (0, "", 0))
        names = list(course.BY_NAME)
        with st.container(horizontal=True):
            name = st.selectbox("Lesson", names, names.index(last) if last else 0, key=f"class_lesson_{time}",
                                format_func=lambda name: course.BY_NAME[name].title,
                                help="The lesson whose question is asked.")  # fmt: skip
            lesson = course.BY_NAME[name]
            number = st.selectbox("Question number", range(1, len(lesson.steps) + 1), step - 1 if name == last else 0,
                                  key=f"class_step_{time}_{name}", width=140,
                                  help="Which question of the lesson is asked.")  # fmt: skip
        at = course.At(lesson, number, one.seed)
        try:
            return together.of_step(at)
        except course.BROKEN:
            st.caption("This question names a machine that is not trained yet.")
            args = stored.queue, *lesson.training(at.step.before, one.seed)
            help = "Takes some seconds. Then choose the question again."
            button("Train it", "play_arrow", "class_train", *args, help=help)
            return None
    if kind == "number":
        run = state.current_run()
        found = together.of_run(run) if run is not None and run.state == "done" else {}
        if not found:
            st.caption("This question needs a finished run that counts its errors. Choose one in the sidebar.")
            return None
        what = st.segmented_control("Number", list(found), default=next(iter(found)), key="class_number",
                                    required=True, help="The result that the class predicts.")  # fmt: skip
        return found[what]
    if kind == "own":
        text = st.text_area("Question and choices", key="class_own", height=140,
                            placeholder="Which kernel can bend the line?\nLinear\n* RBF",
                            help="The question, then one choice per line. Put * before the right choice.")  # fmt: skip
        return together.own(text)
    return together.drawn(kind, one.seed)


@storing
def ask(one: Class, question: Question) -> None:
    """Callback: put it on the board, and train what its result and the next question need."""
    one.ask(question)
    if question.lesson:
        course.teach(course.read(question.lesson, one.seed))
    following = together.following(question, one.seed)
    missing = [*together.machines(question, one.seed), *(together.lacking(following) if following else ())]
    if missing:
        stored.queue(*course.read(question.lesson, one.seed).lesson.training(dict.fromkeys(missing), one.seed))


def ask_step(one: Class, at: course.At) -> None:
    """Callback: put a lesson's question on the board; the form below shows it, too."""
    time, *_ = st.session_state.get(PUT, (0,))
    st.session_state.update({PUT: (time + 1, at.lesson.name, at.number), WHOLE: True})
    ask(one, together.of_step(at))


@storing
def reveal(one: Class, asked: Asked) -> None:
    """Callback: show the answers and what is right; of no question that another window has put there meanwhile."""
    if one.current is asked and asked.right is None:
        one.reveal(*together.right(asked.question, one.seed))
    st.session_state[WHOLE] = True


def go_to(one: Class, asked: Asked, chosen: int | None = None) -> None:
    """Callback: the page of a lesson's question; with its answer, if the class has it. chosen: what was predicted."""
    at = course.read(asked.question.lesson, one.seed)
    if asked.right is not None:
        with suppress(*course.BROKEN):  # a machine was deleted since: the lesson asks anew
            course.judge(at, asked.right if chosen is None else chosen)
    course.go(at)
    st.session_state[WHOLE] = True


def board(one: Class) -> None:
    """The question with the growing picture of its answers; after the result, both on one another."""
    asked = one.current
    if asked is None:
        st.caption("No question yet.")
        return
    st.markdown(f"#### {asked.question.text}")
    if asked.right is None:
        if asked.question.kind == "choice":
            st.markdown("\n".join(f"- {choice}" for choice in asked.question.choices))
        count = st.container()
        if asked.question.points:  # beside the plane, which is whole on a screen of 720 then
            sides = st.grid(2, min_column_width=400)
            with sides.cell():
                pictures.sketch(asked, one.seed, f"board{len(one.asked)}")
            count = sides.cell()
        count.html(pictures.hidden(asked, len(one.people)))
    else:
        result(one, asked, "board")


def result(one: Class, asked: Asked, key: str, mine=None) -> None:
    """The answers over what is right, and why."""
    if asked.question.points:
        pictures.sketch(asked, one.seed, f"{key}{len(one.asked)}_result", mine)
    else:
        st.html(pictures.shown(asked))
    if asked.because:
        st.info(asked.because, icon=":material/lightbulb:")


def commands(one: Class) -> None:
    """What the teacher does with the question on the board: show the result, then ask the lesson's next question."""
    asked = one.current
    with st.container(horizontal=True):
        if asked is not None and asked.right is None:
            missing, help = together.machines(asked.question, one.seed), "Shows all answers and the result."
            onward(one, asked, missing, "Show the result", "visibility", "class_reveal", reveal, one, asked, help=help)
        elif asked is not None and (at := together.following(asked.question, one.seed)):
            help = f"Question {at.number} of {len(at.lesson.steps)} of the lesson {at.lesson.title}."
            label = "Next question" if at.number > 1 else f"Next lesson: {at.lesson.title}"
            onward(one, asked, together.lacking(at), label, "arrow_forward", "class_next", ask_step, one, at, help=help)
        elif asked is not None and asked.question.lesson:
            st.markdown("This was the last question of the last lesson.", width="content")
        if asked is not None and asked.question.lesson:
            help = "Opens the page that this question is about, with the lesson."
            button("Open the lesson", "open_in_new", "class_page", go_to, one, asked, help=help)


def onward(one: Class, asked: Asked, missing: list[str], label: str, icon: str, key: str, does, *args, help: str):
    """The button that leads on; where machines of the lesson are missing, the one that trains them."""
    if not missing:
        button(label, icon, key, does, *args, help=help, type="primary")
        return
    at = course.read(asked.question.lesson, one.seed)
    recipes, group, parents = at.lesson.training(missing, one.seed)
    found = [at.facts.found(name) for name in missing]
    help = "Trains the machines that the question needs, in the background."
    stored.buttons(recipes, found, "Train the machines", help, "class", group=group, parents=parents)


def misjudged(one: Class) -> None:
    """What the class misjudged most, first."""
    done = [asked for asked in one.asked if asked.right is not None and asked.answers]
    if not done:
        return
    st.subheader("Questions misjudged most")
    rows = sorted(((together.share_right(asked), asked) for asked in done), key=lambda row: row[0])
    table = [(plain(pictures.bare(asked.question.text)), asked, share) for share, asked in rows]
    st.table([{"Question": text, "Answers": len(asked.answers), "Correct": percent(share)}
              for text, asked, share in table], alt="Questions, the most misjudged first")  # fmt: skip
    st.caption(
        "Correct: the share of correct choices; for a number or a drawing, how near the predictions were. A line "
        "counts 100 % if it divides the plane as the machine's line does, 0 % if it agrees on half of the plane."
    )


def manage(one: Class) -> None:
    """Runs that students may see, and the end."""
    with st.expander("This class", icon=":material/settings:"):
        run = state.current_run()
        if run is not None:
            shown = run.id in one.shown or run.sample
            help = "Students can then open the pages of this run. They cannot change the run."
            label = "Students can see this run" if shown else "Let students see this run"
            button(label, "share", "class_show", storing(one.show), run.id, help=help, disabled=shown)
            st.caption(f"The run in the sidebar: {plain(run.title)}")
        if any(asked.answers for asked in one.asked):
            file, help = f"class-{one.id}.csv", "Downloads all answers, with the names of the students."
            download("Answers (CSV)", "table", "class_csv", one.csv, file, help=help)
        help = "Afterwards nobody can join or answer. The class stays under *Earlier classes*."
        button("Close the class", "logout", "class_end", session.end, help=help)


def kept() -> None:
    """Classes of before: look at them, open them again, delete them."""
    others = {one.id: one for one in session.kept() if one is not session.now()}
    if not others:
        return
    with st.expander(f"Earlier classes ({len(others)})", icon=":material/history:"):
        named = {key: told(one) for key, one in others.items()}
        help = "The earlier class to look at. The newest is first."
        one = others[st.selectbox("Class", named, format_func=named.get, key="class_earlier", help=help)]
        misjudged(one)
        with st.container(horizontal=True):
            if roles.in_class():
                help = "Opens this class again, with its students and answers."
                button("Open again", "login", "class_again", session.resume, one, help=help)
            help = "Deletes this class with all names and answers. This cannot be undone."
            button("Delete", "delete", "class_delete", session.delete, one, help=help)


def told(one: Class) -> str:
    """When it was, and how large."""
    day, time, _ = one.id.split("-")
    when = f"{day[:4]}-{day[4:6]}-{day[6:]} {time[:2]}:{time[2:4]}"
    return f"{when}: {many(len(one.people), 'student')}, {many(len(one.asked), 'question')}"


@state.fragment(run_every=BOARD)
def live(one: Class, asking: bool) -> None:
    """What changes while the class answers; the page anew where another window has asked the first question."""
    whole(session.now() is not one or asking != (one.current is not None))
    board(one)
    commands(one)


def teachers() -> None:
    """The page as the teacher sees it."""
    one = session.now()
    if not roles.in_class():
        without_doors()
    elif one is None:
        opening()
    else:
        asking = one.current is not None
        parts = [partial(invitation, one), partial(live, one, asking)]
        if present.presenting() and asking:  # a board is whole on a screen of 720
            parts.reverse()
        for part in parts:
            part()
        with present.form("Next question"):
            question = chosen_question(one)
            if question is not None:
                st.caption(question.text)
                there = one.asks(question)
                help = "This question is on the board now." if there else "Puts this question on the board."
                how = {"help": help, "disabled": there}
                button("Ask the class", "campaign", "class_ask", ask, one, question, type="primary", **how)
        misjudged(one)
        manage(one)
    kept()


# A student


@storing
def join(one: Class) -> None:
    """Callback: come in, with the name that was typed or without one."""
    st.session_state[WHO] = one.join(st.session_state.get("class_name", ""))


def me(one: Class) -> str:
    """The word of the student who has joined in this session, or before in this browser; empty if neither."""
    who = st.session_state.get(WHO)
    who = who if who == "" or who in one.people else None
    said = _browser(data={"who": who}, key="class_browser", on_said_change=lambda: None).get("said")
    if who is None and isinstance(said, str) and said in one.people:
        who = said
    st.session_state[WHO] = who
    return who or ""


_browser = component(session.__file__, "browser", "<i></i>")


def leave() -> None:
    """Callback: the next to join by this browser is somebody else."""
    st.session_state[WHO] = ""


@storing
def send(one: Class, who: str, n: int, answer) -> None:
    """Callback: hand the answer in."""
    taken = one.answer(who, n, answer)
    state.tell_later(":material/check: Sent." if taken else ":material/block: Not sent: the result is shown already.")


def predict(one: Class, who: str, n: int, asked: Asked) -> None:
    """The question on a phone."""
    question, sent = asked.question, asked.answers.get(who)
    if question.kind == "choice":
        choices = range(len(question.choices))
        answer = st.radio("Your prediction", choices, index=sent, format_func=question.choices.__getitem__,
                          key=f"class_answer_{n}", help="Predict before you see the result.")  # fmt: skip
    elif question.kind == "number":
        label = f"Your prediction, from {question.low:,} to {question.high:,}"
        answer = st.number_input(label, question.low, question.high, sent, placeholder="a number",
                                 key=f"class_answer_{n}", help="Predict before you see the result.")  # fmt: skip
    else:
        answer = pictures.sketch(asked, one.seed, f"answer{n}", sent, takes=True) or None
    ready = answer is not None and session.fits(question, answer)
    label = "Send" if sent is None else "Sent" if sent == answer else "Send the new answer"
    how = {"help": "You can change your answer until the result is shown.", "type": "primary", "width": "stretch"}
    button(label, "send", "class_send", send, one, who, n, answer, disabled=not ready or sent == answer, **how)


def mine(asked: Asked, answer) -> str:
    """What a student had predicted, in words."""
    question = asked.question
    if answer is None:
        return "You did not answer this question."
    if question.kind == "choice":
        verdict = "right" if answer == asked.right else "wrong"
        return f"You predicted *{question.choices[answer]}*: {verdict}."
    if question.kind == "number":
        return f"You predicted {answer:,}."
    return "Your drawing is dashed; the ringed points and the bold line are the machine's."


@state.fragment(run_every=PHONE)
def phone(one: Class, who: str) -> None:
    """What a student sees, question after question."""
    whole(session.now() is not one)
    asked, n = one.current, len(one.asked) - 1
    if asked is None:
        st.markdown("You have joined. The first question will appear here.")
        return
    st.markdown(f"**{asked.question.text}**")
    if asked.right is None:
        predict(one, who, n, asked)
    else:
        st.markdown(mine(asked, asked.answers.get(who)))
        result(one, asked, "phone", asked.answers.get(who))
        if asked.question.lesson:
            args = one, asked, asked.answers.get(who)
            help = "Opens the page that this question is about, with the lesson."
            button("Open the lesson", "open_in_new", "class_look", go_to, *args, help=help)
    state.tell()


@state.fragment(run_every=PHONE)
def waiting() -> None:
    """Until there is a class."""
    whole(session.now() is not None)


def students() -> None:
    """The page as a student sees it."""
    one = session.now()
    if one is None:
        st.markdown("The teacher has not opened a class yet.")
        waiting()
        return
    who = me(one)
    if not who:
        st.text_input("Your name", key="class_name", placeholder="or leave it empty",
                      help="Everybody in the room can see it. Leave it empty to stay anonymous.")  # fmt: skip
        how = {"help": "Your answers stay on the teacher's computer.", "type": "primary", "width": "stretch"}
        button("Join", "login", "class_join", join, one, **how)
        return
    phone(one, who)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"You have joined as {plain(one.people[who]) or 'anonymous'}.", width="content")
        help = "Lets somebody else join on this phone. Your answers are not deleted."
        button("Join as somebody else", "switch_account", "class_leave", leave, help=help, type="tertiary")


parameters.own(**{course.SEED: slice(0, MAX_SEED)})
if roles.teacher():
    present.about("The class predicts by phone; then the board shows all predictions and the result.")
    teachers()
else:
    students()
with st.container():
    if not roles.teacher():
        with st.container(horizontal=True):
            ways.to("playground", "Playground", "scatter_plot")
            ways.to("lessons", "Lessons", "school")
            ways.to("draw", "Draw a digit", "draw")
