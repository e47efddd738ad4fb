"""The custom check of `.ci/api-check`: rejected requests that the OpenAPI document permits."""

import re

import schemathesis

# Patterns of error messages for rules that a schema of OpenAPI 3.0 cannot express.
NOT_SAID_BY_SCHEMAS = {
    "what there is": r"no such|must be a member of|must be the id of a page|which does not exist|is a duplicate|must be a cursor of this list",
    "what holds already": r"must differ from the language|must not be the moved item|a role in the organization|is allowed for the backend",
    "which signs are emoji, and which letters": r"must be one emoji|must be one path segment",
    "which hosts there can be": r"must be an absolute|must be a URL with a host|must be an address like|must be the address of a wiki",
    "what is in a text": r"must be an X\.509 certificate|must be a zip archive|cannot be fetched|condition: character|the form: must end",
    "the grammar of documents: where a block may stand, and what it needs": r"nodes\[\d+\]: ",
    "that parameters need each other": r"only: must not be set without `page`|is required in the query|is allowed only with the status",
    "what a server is built for": r"is not supported by this server",
    "the names of members": r"jsonSchema: properties\[",
}
KNOWN = re.compile("|".join(NOT_SAID_BY_SCHEMAS.values()))
# Excludes statuses that depend on the caller, the state or the request rate: 401, 403, 404, 409, 412, 429.
WRONG = {400, 405, 406, 411, 413, 414, 415, 422}


@schemathesis.check
def refusals_that_the_document_could_tell(ctx, response, case):
    made = case.meta
    if made is None or not made.generation.mode.is_positive or response.status_code not in WRONG:
        return
    try:
        message = response.json()["error"]["message"]
    except (ValueError, LookupError, TypeError):
        message = response.text
    if not KNOWN.search(message):
        raise AssertionError(f"{response.status_code}, though the document allows it: {message}")
