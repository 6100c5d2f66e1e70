"""The timetable of a school: the lessons are scheduled rooms, and everybody gets links of their own."""

import os
from datetime import datetime, timedelta
from functools import cache
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import parley

LESSONS = [  # weekday from Monday, hour, subject
    (0, 9, "Mathematics"),
    (0, 11, "History"),
    (1, 9, "Biology"),
    (2, 10, "English"),
    (3, 9, "Mathematics"),
    (3, 13, "Arts & Crafts"),
    (4, 10, "Geography"),
]
PEOPLE = {  # your own IDs of the people, with their names and their roles in the rooms
    "t1": ("Ms Okafor", "host"),
    "t2": ("Mr Lindqvist", "host"),
    "p1": ("Ana", "guest"),
    "p2": ("Milan", "guest"),
}
HOUR = timedelta(hours=1)
SERVER = os.environ["PARLEY_URL"].rstrip("/")
PORT = int(os.environ.get("PORT") or 8092)
STYLE = Path(__file__).with_name("style.css").read_bytes()
PAGE = Path(__file__).with_name("page.html").read_text("utf-8")
HEADERS = {  # the pages have no scripts and no frames, because rooms open in pages of the Parley server
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",  # because the page contains links for one person
    "X-Content-Type-Options": "nosniff",
}

client = parley.Parley.from_environment()


def next_start(weekday, hour):
    """Return the next time of a lesson that is not over, with the time zone of this computer."""
    now = datetime.now()
    day = now + timedelta(days=(weekday - now.weekday()) % 7)
    start = day.replace(hour=hour, minute=0, second=0, microsecond=0)
    return (start if start + HOUR > now else start + timedelta(days=7)).astimezone()


@cache
def create_room(start, subject):
    """Return the ID of the room of a lesson, which exists already if this program ran before."""
    own_id = f"timetable {start:%Y-%m-%d %H:%M} {subject}"
    soon = datetime.now().astimezone() + timedelta(minutes=1)  # not in the past, also by the clock of the server
    try:
        return client.create_scheduled_video_room_v3(  # version 3 takes a time with any offset
            start_at=max(start, soon).isoformat(),
            max_participants=30,
            empty_timeout=600,
            metadata={"room_title": subject, "welcome_message": ""},
            client_room_id=own_id,
        ).room_id
    except parley.ConflictError:
        return next(room.room_id for room in client.rooms() if room.client_room_id == own_id)


def read_timetable():
    """Return the next lesson of each row of LESSONS, and schedule those that have no room yet."""
    lessons = sorted((next_start(weekday, hour), subject) for weekday, hour, subject in LESSONS)
    return [(start, subject, create_room(start, subject)) for start, subject in lessons]


def lesson_row(start, subject, room_id, user_id):
    """Return a row of the table with links for one person."""
    name, role = PEOPLE[user_id]
    # Signing is no call, so a page can have many links. Each is valid for an hour, and this page makes new ones.
    link = client.sign_join_link(room_id=room_id, role=role, name=name, user_id=user_id, expires_in=3600)
    verb = "Teach" if role == "host" else "Join"
    calendar = f"{SERVER}/r/{room_id}/calendar.ics"
    day = f"{start:%A}, {start.day} {start:%B}"
    return (
        f'<tr><th scope="row">{day} <time datetime="{start.isoformat()}">{start:%H:%M}</time></th>'
        f'<td>{escape(subject)}</td><td><a href="{escape(link)}">{verb} {escape(subject)}</a></td>'
        f'<td><a href="{escape(calendar)}">Calendar file</a></td></tr>'
    )


def timetable_page(user_id):
    """Return the page of a person, or the page before somebody is chosen."""
    choices = "".join(
        f'<option value="{escape(key)}"{" selected" if key == user_id else ""}>{escape(name)}'
        f' ({"teacher" if role == "host" else "pupil"})</option>'
        for key, (name, role) in PEOPLE.items()
    )
    rows, caption = "", "Choose a person to see the lessons."
    if user_id in PEOPLE:
        rows = "".join(lesson_row(*lesson, user_id) for lesson in read_timetable())
        caption = f"Lessons of {PEOPLE[user_id][0]}"
    return PAGE.replace("{{choices}}", choices).replace("{{caption}}", escape(caption)).replace("{{rows}}", rows)


class School(BaseHTTPRequestHandler):
    def do_GET(self):
        address = urlsplit(self.path)
        if address.path == "/":
            # In a real school, the person comes from the login and never from the address.
            user_id = parse_qs(address.query).get("person", [""])[0]
            try:
                self.respond(200, "text/html", timetable_page(user_id).encode())
            except parley.ParleyError as error:
                print(error, flush=True)  # it contains no secrets
                self.respond(502, "text/plain", b"The meeting server did not respond as expected. Please try again.")
        elif address.path == "/style.css":
            self.respond(200, "text/css", STYLE)
        else:
            self.respond(404, "text/plain", b"There is no such page.")

    def respond(self, status, kind, body):
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": f"{kind}; charset=utf-8", "Content-Length": len(body)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)


read_timetable()
print(f"The timetable is at http://127.0.0.1:{PORT}", flush=True)
ThreadingHTTPServer(("127.0.0.1", PORT), School).serve_forever()
