import { type Database, serverTenant } from '#infra/db/index.ts'
import { listChallenges, type StoredChallenge } from './challenge-store.ts'

// Orders take turns, two at a time in each process.
const maxChallenges = 200

/** What authorities are answered, whichever process they reach. However many ask, one look at the database is under way
 * at a time: strangers can ask for anything here. */
export class ChallengeAnswers {
  readonly #db: Database
  #running: Promise<readonly StoredChallenge[]> | undefined
  #next: Promise<readonly StoredChallenge[]> | undefined

  constructor(db: Database) {
    this.#db = db
  }

  async find(isMeant: (challenge: StoredChallenge) => boolean): Promise<StoredChallenge | undefined> {
    return (await this.#list()).find(isMeant)
  }

  /** A look that begins now or later: one that is under way may have missed what was just written. */
  #list(): Promise<readonly StoredChallenge[]> {
    if (!this.#running) return this.#read()
    const settled = this.#running.catch(() => undefined)
    this.#next ??= settled.then(() => {
      this.#next = undefined
      return this.#read()
    })
    return this.#next
  }

  #read(): Promise<readonly StoredChallenge[]> {
    const reading = listChallenges(this.#db.reader(serverTenant), maxChallenges).finally(() => {
      if (this.#running === reading) this.#running = undefined
    })
    this.#running = reading
    return reading
  }
}
