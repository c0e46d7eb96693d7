"""The address of a server that commands talk to."""

import msgspec

from stretto.client.names import server_url
from stretto.config.kinds import shown
from stretto.config.problems import BadValue, ConfigCode
from stretto.model.errors import InvalidRequest
from stretto.model.problem import Code


class ServerUrl(msgspec.Struct, frozen=True):
    """`http://HOST:PORT`, or `https://HOST/PATH`."""

    name: str = "address of a server"

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise BadValue(Code.WRONG_TYPE, f"{shown(value)} is not the address of a server")
        return self.parse(value)

    def parse(self, text: str) -> str:
        try:
            return server_url(text)
        except InvalidRequest as error:
            raise BadValue(
                ConfigCode.BAD_URL, f"{shown(text)} is not the address of a server", error.hint
            ) from None

    def show(self, value: str) -> str:
        return value
