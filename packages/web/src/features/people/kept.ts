import { peopleKey } from './people-keys.ts'

/** The keys of what is kept for reading without a connection. */
export const peopleKept = [peopleKey, ['posts']] as const
