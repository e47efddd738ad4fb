"""An identity provider on loopback: pysaml2, with xmlsec1 below it.

Usage: provider.py METADATA_OF_THE_SERVICE KEY CERTIFICATE ASSERTION|RESPONSE|BOTH

Prints its address when it answers. People sign in at /sso with a form and a password; a cookie keeps them signed in. From
/begin they are sent to the service without its having asked.
"""

import html
import secrets
import sys
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.authn_context import PASSWORD
from saml2.config import IdPConfig
from saml2.saml import NAMEID_FORMAT_EMAILADDRESS, NameID
from saml2.server import Server
from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256

PEOPLE = {
    "Grace@Example.com": {"password": "hopper", "first_name": "Grace", "last_name": "Hopper <&> Ä"},
    "ada@example.com": {"password": "lovelace", "first_name": "Ada", "last_name": "Lovelace"},
}
SESSIONS = {}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def page(self, status, body, headers=()):
        body = f"<!DOCTYPE html><html><body>{body}</body></html>".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def who(self):
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("idp")
        return SESSIONS.get(cookie.value) if cookie else None

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path not in ("/sso", "/begin"):
            return self.page(404, "no such page")
        person = self.who()
        if person is None:
            hidden = "".join(
                f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in query.items()
            )
            return self.page(
                200, f'<form method="post" action="/login">{hidden}<input name="user"><input name="password"></form>'
            )
        if url.path == "/begin":
            args = {"in_response_to": None, "destination": query["acs"], "sp_entity_id": query["service"]}
        else:
            request = IDP.parse_authn_request(query["SAMLRequest"], BINDING_HTTP_REDIRECT)
            args = IDP.response_args(request.message)
        response = IDP.create_authn_response(
            identity={name: PEOPLE[person][name] for name in ("first_name", "last_name")},
            userid=person,
            name_id=NameID(format=NAMEID_FORMAT_EMAILADDRESS, text=person),
            authn={"class_ref": PASSWORD, "authn_auth": BASE},
            sign_assertion=SIGN in ("ASSERTION", "BOTH"),
            sign_response=SIGN in ("RESPONSE", "BOTH"),
            sign_alg=SIG_RSA_SHA256,
            digest_alg=DIGEST_SHA256,
            **args,
        )
        form = IDP.apply_binding(BINDING_HTTP_POST, str(response), args["destination"], response=True)
        self.page(200, form["data"])

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        form = {name: values[0] for name, values in form.items()}
        person = form.pop("user", "")
        if PEOPLE.get(person, {}).get("password") != form.pop("password", ""):
            return self.page(403, "wrong user or password")
        session = secrets.token_hex(16)
        SESSIONS[session] = person
        location = f"/sso?{urlencode(form)}"
        self.page(303, "", [("Location", location), ("Set-Cookie", f"idp={session}; Path=/; HttpOnly")])


METADATA, KEY, CERTIFICATE, SIGN = sys.argv[1:]
HTTP = HTTPServer(("127.0.0.1", 0), Handler)
BASE = f"http://127.0.0.1:{HTTP.server_port}"
IDP = Server(
    config=IdPConfig().load(
        {
            "entityid": f"{BASE}/metadata",
            "key_file": KEY,
            "cert_file": CERTIFICATE,
            "metadata": {"local": [METADATA]},
            "service": {
                "idp": {
                    "endpoints": {"single_sign_on_service": [(f"{BASE}/sso", BINDING_HTTP_REDIRECT)]},
                    "name_id_format": [NAMEID_FORMAT_EMAILADDRESS],
                    "policy": {
                        "default": {
                            "lifetime": {"minutes": 5},
                            "attribute_restrictions": None,
                            "name_form": "urn:oasis:names:tc:SAML:2.0:attrname-format:basic",
                        }
                    },
                }
            },
        }
    )
)
print(BASE, flush=True)
HTTP.serve_forever()
