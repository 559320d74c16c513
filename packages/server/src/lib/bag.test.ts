import { expect, test } from 'vitest'
import { collectGarbage } from '#harness/collect-garbage.ts'
import { Bag, type BagMember } from './bag.ts'

interface Named extends BagMember {
  readonly name: string
}

const named = (name: string): Named => ({ name, bagIndex: -1 })

const namesIn = (bag: Bag<Named>) => [...bag].map(({ name }) => name).sort()

test('has what was added and not taken out, each once', () => {
  const bag = new Bag<Named>()
  const [a, b, c] = [named('a'), named('b'), named('c')]
  for (const one of [a, b, a, c]) bag.add(one)
  expect([bag.size, namesIn(bag)]).toEqual([3, ['a', 'b', 'c']])
  bag.delete(a)
  bag.delete(a)
  expect([bag.size, namesIn(bag)]).toEqual([2, ['b', 'c']])
  bag.delete(c)
  bag.add(a)
  bag.delete(b)
  expect([bag.size, namesIn(bag)]).toEqual([1, ['a']])
  bag.delete(a)
  expect([bag.size, namesIn(bag)]).toEqual([0, []])
})

test('lets members take themselves and others out while they are visited', () => {
  const bag = new Bag<Named>()
  const members = ['a', 'b', 'c', 'd'].map(named)
  for (const one of members) bag.add(one)
  const visited: string[] = []
  for (const one of bag) {
    visited.push(one.name)
    bag.delete(one)
    if (one.name === 'a') bag.delete(members[1] as Named)
  }
  expect([visited, bag.size]).toEqual([['a', 'c', 'd'], 0])
})

test('keeps nothing of those that have left, also before a full collection', () => {
  const bag = new Bag<BagMember>()
  const inside: BagMember[] = []
  const turn = () => {
    const member = { bagIndex: -1, memory: new Array(500).fill(0) }
    bag.add(member)
    inside.push(member)
    if (inside.length > 8) bag.delete(inside.shift() as BagMember)
  }
  for (let count = 0; count < 100; count += 1) turn()
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let count = 0; count < 2_000; count += 1) turn()
  collectGarbage({ type: 'minor' })
  collectGarbage({ type: 'minor' })
  // All of them are 8 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000)
})
