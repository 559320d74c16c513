// WebAuthn, between the JSON of the API and the bytes of the browser.

/** Whether passkeys can work here at all: only in a secure context. */
export function canUsePasskeys() {
  return window.isSecureContext && 'PublicKeyCredential' in window
}

/** Makes a passkey; answers the body's `credential` of `POST /api/auth/wa/reg`. */
export async function createPasskey(options) {
  const publicKey = {
    ...options,
    challenge: toBytes(options.challenge),
    user: { ...options.user, id: toBytes(options.user.id) },
    excludeCredentials: (options.excludeCredentials ?? []).map(withBytes),
  }
  const { id, rawId, type, response } = await navigator.credentials.create({ publicKey })
  return {
    id,
    rawId: toText(rawId),
    type,
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      attestationObject: toText(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  }
}

/** Uses a passkey; answers the body's `credential` of `POST /api/auth/wa/login`. */
export async function usePasskey(options) {
  const publicKey = {
    ...options,
    challenge: toBytes(options.challenge),
    allowCredentials: (options.allowCredentials ?? []).map(withBytes),
  }
  const { id, rawId, type, response } = await navigator.credentials.get({ publicKey })
  return {
    id,
    rawId: toText(rawId),
    type,
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      authenticatorData: toText(response.authenticatorData),
      signature: toText(response.signature),
      ...(response.userHandle ? { userHandle: toText(response.userHandle) } : {}),
    },
  }
}

function withBytes(descriptor) {
  return { ...descriptor, id: toBytes(descriptor.id) }
}

function toBytes(base64url) {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

function toText(buffer) {
  const binary = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join('')
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
