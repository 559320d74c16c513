/** The passkey library, loaded with the first passkey: a server that sees none does not pay 15 MB for it. */
export function loadWebAuthn() {
  return import('@simplewebauthn/server')
}
