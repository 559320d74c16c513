import { session } from './session.ts'

/** The identity whose app this is; empty before somebody has signed in. */
export function ownIdTag(): string {
  const present = session.get()
  return 'login' in present ? present.login.idTag : ''
}
