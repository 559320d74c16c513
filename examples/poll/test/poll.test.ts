import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { Poll, readAnswers } from '../src/poll.ts'

/** The poll as it is open in one tab. Of two that write at once, Yjs keeps what the one with the greater number wrote. */
function openTab(clientId: number) {
  const doc = new Y.Doc()
  doc.clientID = clientId
  const poll = new Poll({ doc })
  return { doc, poll, counts: () => poll.answers.map(({ votes }) => votes) }
}
type Tab = ReturnType<typeof openTab>

/** Both get what the other has done since they last met. */
function meet(one: Tab, other: Tab): void {
  const [ofOne, ofOther] = [one, other].map(({ doc }) => Y.encodeStateAsUpdate(doc)) as [
    Uint8Array,
    Uint8Array,
  ]
  Y.applyUpdate(one.doc, ofOther)
  Y.applyUpdate(other.doc, ofOne)
}

/** Two who see the same question, with two answers. */
function twoAsked(): [Tab, Tab] {
  const [one, other] = [openTab(1), openTab(2)]
  one.poll.ask('Where do we eat?', ['Canteen', 'Park'])
  meet(one, other)
  return [one, other]
}

describe('a poll', () => {
  test('is of nothing before somebody asks', () => {
    const { poll } = openTab(1)
    expect([poll.question, poll.answers, poll.voteOf('alice')]).toEqual([undefined, [], undefined])
  })

  test('has its answers in the order in which they were written', () => {
    const { poll } = openTab(1)
    const answers = ['Z', 'b', 'A', '9', '10', '1', 'z', 'y', 'x', 'w']
    poll.ask('Which?', answers)
    expect(poll.answers.map(({ text }) => text)).toEqual(answers)
  })

  test('counts the votes of two who vote at once', () => {
    const [one, other] = twoAsked()
    one.poll.vote('alice', 'Canteen')
    other.poll.vote('bob', 'Park')
    expect([one.counts(), other.counts()]).toEqual([
      [1, 0],
      [0, 1],
    ])
    meet(one, other)
    expect([one.counts(), other.counts()]).toEqual([
      [1, 1],
      [1, 1],
    ])
    expect(one.poll.voteOf('bob')).toBe('Park')
  })

  test('counts the last vote of each, and none that is withdrawn', () => {
    const [one, other] = twoAsked()
    one.poll.vote('alice', 'Canteen')
    other.poll.vote('bob', 'Canteen')
    meet(one, other)
    one.poll.vote('alice', 'Park')
    meet(one, other)
    expect(other.counts()).toEqual([1, 1])
    other.poll.vote('bob', undefined)
    meet(one, other)
    expect([one.counts(), one.poll.voteOf('bob')]).toEqual([[0, 1], undefined])
  })

  test('counts one vote of a person who votes in two tabs at once', () => {
    const [one, other] = twoAsked()
    one.poll.vote('alice', 'Canteen')
    other.poll.vote('alice', 'Park')
    meet(one, other)
    expect(one.counts()).toEqual(other.counts())
    expect(one.counts().reduce((sum, votes) => sum + votes)).toBe(1)
  })

  test.each([
    ['one', 2, 1, 'Where?', ['Canteen', 'Park', 'Lake']],
    ['the other', 1, 2, 'When?', ['Noon', 'Evening']],
  ])('asks what %s of two asks who ask at once, with those answers and no others', (...row) => {
    const [, idOfOne, idOfOther, question, answers] = row
    const [one, other] = [openTab(idOfOne), openTab(idOfOther)]
    one.poll.ask('Where?', ['Canteen', 'Park', 'Lake'])
    one.poll.vote('alice', 'Canteen')
    other.poll.ask('When?', ['Noon', 'Evening'])
    other.poll.vote('bob', 'Noon')
    meet(one, other)
    for (const { poll, counts } of [one, other]) {
      expect([poll.question, poll.answers.map(({ text }) => text)]).toEqual([question, answers])
      expect(counts()).toEqual(answers.map((_, at) => (at === 0 ? 1 : 0)))
    }
  })

  test('tells of changes that are made here and elsewhere', () => {
    const [one, other] = twoAsked()
    let told = 0
    one.poll.onChange(() => {
      told += 1
    })
    one.poll.vote('alice', 'Canteen')
    expect(told).toBe(1)
    other.poll.vote('bob', 'Canteen')
    meet(one, other)
    expect(told).toBe(2)
  })
})

describe('what is written as answers', () => {
  test('is one answer a line, each once and without what surrounds it', () => {
    expect(readAnswers(' Canteen \n\n\tPark\r\nCanteen\n')).toEqual(['Canteen', 'Park'])
  })

  const lines = (count: number) => Array.from({ length: count }, (_, at) => `Answer ${at}`)

  test('is two to ten', () => {
    expect(readAnswers('')).toBeUndefined()
    expect(readAnswers('Park\nPark')).toBeUndefined()
    expect(readAnswers(lines(2).join('\n'))).toEqual(lines(2))
    expect(readAnswers(lines(10).join('\n'))).toEqual(lines(10))
    expect(readAnswers(lines(11).join('\n'))).toBeUndefined()
  })

  test('has at most 200 characters each', () => {
    expect(readAnswers(`Park\n${'x'.repeat(200)}`)).toHaveLength(2)
    expect(readAnswers(`Park\n${'x'.repeat(201)}`)).toBeUndefined()
  })
})
