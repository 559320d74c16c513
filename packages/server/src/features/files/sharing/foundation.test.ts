import type { FileId } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import type { GrantNode, GrantShare } from '../access/grant-steps-store.ts'
import { findLongestWay } from './foundation.ts'

const never = Number.POSITIVE_INFINITY
const node = (fileId: string, more: Partial<GrantNode> = {}): GrantNode => ({
  fileId,
  isSubject: false,
  folderId: undefined,
  isRead: false,
  ...more,
})
const subject = (fileId: string, isRead = false) => node(fileId, { isSubject: true, isRead })
const share = (shareId: number, fileId: string, more: Partial<GrantShare> = {}): GrantShare => ({
  shareId,
  fileId,
  readersOf: undefined,
  level: 2,
  expiresAt: never,
  ...more,
})
const find = (nodes: GrantNode[], shares: GrantShare[], needed: 2 | 3 = 2) =>
  findLongestWay({ nodes, shares }, { fileId: 'doc' as FileId, needed })
const inBox = [node('doc', { folderId: 'box' }), node('box')]

describe('What founds a share', () => {
  test('is nothing where nothing is shared', () => {
    expect(find(inBox, [])).toBe(undefined)
  })

  test('is a share of the file or of a folder above it', () => {
    for (const fileId of ['doc', 'box'])
      expect(find(inBox, [share(1, fileId)])).toEqual({ baseIds: [1], expiresAt: undefined })
  })

  test('is no share that gives less', () => {
    expect(find(inBox, [share(1, 'doc', { level: 1 })])).toBe(undefined)
    expect(find(inBox, [share(1, 'doc'), share(2, 'box', { level: 3, expiresAt: 9 })], 3)).toEqual({
      baseIds: [2],
      expiresAt: 9,
    })
  })

  test('is of several the one that lasts longest', () => {
    const shares = [7, 9, 8].map((expiresAt, index) => share(index, 'doc', { expiresAt }))
    expect(find(inBox, shares)).toEqual({ baseIds: [1], expiresAt: 9 })
    expect(find(inBox, [...shares, share(3, 'box')])).toEqual({ baseIds: [3], expiresAt: undefined })
  })

  test('is a share with the readers of a file together with what lets read that one, as long as both', () => {
    const toReaders = share(1, 'box', { readersOf: 'list', expiresAt: 9 })
    expect(find([...inBox, subject('list')], [toReaders])).toBe(undefined)
    expect(find([...inBox, subject('list', true)], [toReaders])).toEqual({ baseIds: [1], expiresAt: 9 })
    for (const [expiresAt, end] of [
      [8, 8],
      [never, 9],
    ] as const) {
      const reading = share(2, 'list', { level: 1, expiresAt })
      const found = find([...inBox, subject('list')], [toReaders, reading])
      expect(found).toEqual({ baseIds: [1, 2], expiresAt: end })
    }
  })

  test('is not found by going round', () => {
    const nodes = [...inBox, subject('list'), subject('doc')]
    const shares = [share(1, 'doc', { readersOf: 'list' }), share(2, 'list', { readersOf: 'doc' })]
    expect(find(nodes, shares)).toBe(undefined)
  })
})
