import type { ConnectedDocument } from '@kith/app'

export interface Answer {
  readonly id: string
  readonly text: string
  readonly votes: number
}

/** A poll in a collaborative document. */
export class Poll {
  readonly #document: ConnectedDocument

  constructor(document: ConnectedDocument) {
    this.#document = document
  }

  get question(): string | undefined {
    return this.#map<string>('poll').get('question')
  }

  /** The answers in their order, with the votes of each. */
  get answers(): readonly Answer[] {
    const votes = [...this.#map<string>('votes').values()]
    return [...this.#map<string>('answers')]
      .map(([id, text]) => ({ id, text, votes: votes.filter((vote) => vote === id).length }))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  voteOf(idTag: string): string | undefined {
    return this.#map<string>('votes').get(idTag)
  }

  /** Asks a question. Two people who do so at a time ask that of one of them. */
  ask(question: string, answers: readonly string[]): void {
    this.#document.doc.transact(() => {
      this.#map<string>('poll').set('question', question)
      for (const [at, text] of answers.entries()) this.#map<string>('answers').set(`answer-${at}`, text)
    })
  }

  /** Votes, or withdraws the vote. A person has one place, so that a second vote takes that of the first. */
  vote(idTag: string, answer: string | undefined): void {
    const votes = this.#map<string>('votes')
    if (answer === undefined) votes.delete(idTag)
    else votes.set(idTag, answer)
  }

  onChange(listener: () => void): void {
    this.#document.doc.on('update', listener)
  }

  #map<Value>(name: string) {
    return this.#document.doc.getMap<Value>(name)
  }
}

/** The answers in a text, one a line; undefined unless there are two to ten different ones of at most 200 characters. */
export function readAnswers(text: string): string[] | undefined {
  const lines = text.split('\n').map((line) => line.trim())
  const answers = [...new Set(lines.filter((line) => line !== ''))]
  const areShort = answers.every((answer) => answer.length <= 200)
  return areShort && answers.length >= 2 && answers.length <= 10 ? answers : undefined
}
