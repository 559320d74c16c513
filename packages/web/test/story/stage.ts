import type { Device } from './device.ts'

/** A server of the story, with its owner's way in. */
export interface Home {
  readonly idTag: string
  readonly password: string
}

/** What only who runs the servers can do. */
export interface Stage {
  /** Anna's own server, and the one of her street, where Ben will live. They know each other by name alone. */
  readonly annas: Home
  readonly street: Home
  /** The origin under which an identity is reached. */
  urlOf(idTag: string): string
  /** A link with which a person registers at the server of the street. */
  invite(): Promise<string>
  /** The link in the newest mail to an address. */
  linkMailedTo(email: string): Promise<string>
  /** From now on nobody answers for the street. */
  takeStreetDown(): Promise<void>
  /** The same server again, after a minute. */
  bringStreetBack(): Promise<void>
}

/** The browsers in front of which the story takes place. */
export interface Cast {
  /** On a desk. */
  readonly anna: Device
  /** A phone. */
  readonly ben: Device
  readonly bensLaptop: Device
  /** Somebody without an account. */
  readonly guest: Device
}

export type Teller = (cast: Cast, stage: Stage) => Promise<readonly Device[]>

/** What happens, and how: answers the devices on which it is to be seen. */
export interface Step {
  readonly title: string
  readonly tell: Teller
}

export function step(title: string, tell: Teller): Step {
  return { title, tell }
}
