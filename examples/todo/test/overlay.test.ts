import { describe, expect, test } from 'vitest'
import { Overlay } from '../src/overlay.ts'

interface Entry {
  readonly id: string
  readonly title: string
}
const milk = { id: '1', title: 'Milk' }
const bread = { id: '2', title: 'Bread' }
const change = (entry: Entry | undefined) => ({ entry, isStored: false })

function told(...entries: Entry[]): Overlay<Entry> {
  const overlay = new Overlay<Entry>()
  overlay.tell(entries)
  return overlay
}

describe('a change of an entry', () => {
  const whole = { ...milk, title: 'Whole milk' }

  test('is seen at once, whatever the server tells until it is stored', () => {
    const overlay = told(milk, bread)
    overlay.put('1', change(whole))
    expect(overlay.entries).toEqual([bread, whole])
    overlay.tell([milk])
    expect(overlay.entries).toEqual([whole])
  })

  test('gives way to what the server tells once it is stored, and not before that is told', () => {
    const overlay = told(milk)
    const stored = change(whole)
    overlay.put('1', stored)
    stored.isStored = true
    expect(overlay.entries).toEqual([whole])
    overlay.tell([milk])
    expect(overlay.entries).toEqual([milk])
  })

  test('is taken back, unless another has come after it', () => {
    const overlay = told(milk)
    const [first, second] = [change(whole), change({ ...milk, title: 'Soy milk' })]
    overlay.put('1', first)
    overlay.put('1', second)
    overlay.drop('1', first)
    expect(overlay.entries).toEqual([second.entry])
    overlay.drop('1', second)
    expect(overlay.entries).toEqual([milk])
  })
})

test('an entry that is new here is there, and one that was removed here is not', () => {
  const overlay = told(milk)
  overlay.put('new', change({ id: 'new', title: 'Tea' }))
  overlay.put('1', change(undefined))
  expect(overlay.entries).toEqual([{ id: 'new', title: 'Tea' }])
})
