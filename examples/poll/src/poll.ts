import type { ConnectedDocument } from '@kith/app'

export interface Answer {
  readonly text: string
  readonly votes: number
}

interface Asked {
  readonly question: string
  readonly answers: readonly string[]
}

/** A poll in a collaborative document. */
export class Poll {
  readonly #document: Pick<ConnectedDocument, 'doc'>

  constructor(document: Pick<ConnectedDocument, 'doc'>) {
    this.#document = document
  }

  get question(): string | undefined {
    return this.#asked?.question
  }

  /** The answers in their order, with the votes of each. */
  get answers(): readonly Answer[] {
    const votes = [...this.#votes.values()]
    const answers = this.#asked?.answers ?? []
    return answers.map((text) => ({ text, votes: votes.filter((vote) => vote === text).length }))
  }

  voteOf(idTag: string): string | undefined {
    return this.#votes.get(idTag)
  }

  /** Asks a question. It is one value with its answers: of two people who ask at a time, one asks all of it. */
  ask(question: string, answers: readonly string[]): void {
    this.#document.doc.getMap<Asked>('poll').set('asked', { question, answers })
  }

  /** Votes, or withdraws the vote. A person has one place, so that a second vote takes that of the first. A vote is the text of
   * the answer, so that it never counts for an answer of another question. */
  vote(idTag: string, answer: string | undefined): void {
    if (answer === undefined) this.#votes.delete(idTag)
    else this.#votes.set(idTag, answer)
  }

  onChange(listener: () => void): void {
    this.#document.doc.on('update', listener)
  }

  get #asked(): Asked | undefined {
    return this.#document.doc.getMap<Asked>('poll').get('asked')
  }

  get #votes() {
    return this.#document.doc.getMap<string>('votes')
  }
}

/** The answers in a text, one a line; undefined unless there are two to ten different ones of at most 200 characters. */
export function readAnswers(text: string): string[] | undefined {
  const lines = text.split('\n').map((line) => line.trim())
  const answers = [...new Set(lines.filter((line) => line !== ''))]
  const areShort = answers.every((answer) => answer.length <= 200)
  return areShort && answers.length >= 2 && answers.length <= 10 ? answers : undefined
}
