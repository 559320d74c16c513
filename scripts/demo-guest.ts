/** An invited person, for the demo of accounts. */
export interface Guest {
  /** By what they reach the server. */
  readonly means: string
  /** Opens the link of an invitation and asks for the account. */
  register(link: string): Promise<void>
  /** Opens the link of the welcome and chooses the password. */
  choosePassword(link: string): Promise<void>
  signIn(): Promise<void>
  addPasskey(): Promise<void>
  signInWithPasskey(): Promise<void>
  /** Shows a code on a second device, which the first one agrees to. */
  signInElsewhere(): Promise<void>
  leave(): Promise<void>
}

export interface GuestAddress {
  readonly idTag: string
  readonly email: string
  readonly password: string
  /** Where the account will live. */
  readonly url: string
  /** Where people register. */
  readonly homeUrl: string
}

/** What stands behind `#token=` of a link. */
export function tokenIn(link: string): string {
  return new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? ''
}

/** A link as it may be printed. */
export function withoutToken(link: string): string {
  return link.replace(/#token=.*/, '#token=…')
}
