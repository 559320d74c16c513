import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AccessLevel,
  accessLevels,
  encodeBase64Url,
  type FileId,
  fileIdOf,
  formatScope,
  intersectScopes,
  parseScope,
  type Scope,
  type ScopeItem,
  type ScopeRequirement,
  scopeAllows,
  scopeAreas,
} from './index.ts'

const fileIds = [0, 1, 2].map((byte) => fileIdOf('BLOB', encodeBase64Url(new Uint8Array(32).fill(byte))))
const anyFile = fc.constantFrom(...fileIds)
const anyItem: fc.Arbitrary<ScopeItem> = fc.oneof(
  fc.record({ level: fc.constantFrom(...accessLevels), area: fc.constantFrom('*' as const, ...scopeAreas) }),
  fc.record({ level: fc.constantFrom('read' as const, 'write' as const), fileId: anyFile }),
)
const anyScope = fc.array(anyItem, { minLength: 1, maxLength: 6 })
const anyRequirement = fc
  .tuple(fc.constantFrom(...accessLevels), fc.constantFrom(...scopeAreas))
  .map(([level, area]) => `${level}:${area}` as ScopeRequirement)

/** 0 nothing, 1 read, 2 write: by a `file:` item or by the area. */
function reachOf(scope: Scope | undefined, fileId: FileId): number {
  const levels =
    scope?.flatMap((item) => ('fileId' in item && item.fileId === fileId ? [item.level] : [])) ?? []
  if (scopeAllows(scope, 'write:files') || levels.includes('write')) return 2
  return scopeAllows(scope, 'read:files') || levels.length > 0 ? 1 : 0
}

describe('parseScope', () => {
  test('takes commas and spaces between items', () => {
    expect(parseScope('read:files, write:actions  admin')).toEqual([
      { level: 'read', area: 'files' },
      { level: 'write', area: 'actions' },
      { level: 'admin', area: '*' },
    ])
  })

  test.each([
    '',
    ' , ',
    'everything',
    'read:',
    'read:*',
    'read:nothing',
    'READ',
    'read:files:more',
    'write read:unknown',
    `file:${fileIds[0]}`,
    `file:${fileIds[0]}:admin`,
    'file:b1~short:read',
    'file::read',
    Array.from({ length: 65 }, () => 'read').join(' '),
  ])('refuses %j as a whole', (text) => {
    expect(parseScope(text)).toBeUndefined()
  })

  test('reads back what formatScope wrote', () => {
    fc.assert(
      fc.property(anyScope, (scope) => {
        expect(parseScope(formatScope(scope))).toEqual(scope)
      }),
    )
  })
})

describe('formatScope', () => {
  test('never writes a scope that allows nothing as no scope at all', () => {
    expect(() => formatScope([])).toThrow(TypeError)
  })
})

describe('scopeAllows', () => {
  test('allows everything without a scope and nothing with an empty one', () => {
    fc.assert(
      fc.property(anyRequirement, (requirement) => {
        expect(scopeAllows(undefined, requirement)).toBe(true)
        expect(scopeAllows([], requirement)).toBe(false)
      }),
    )
  })

  test.each<[string, ScopeRequirement, boolean]>([
    ['read', 'read:files', true],
    ['read', 'write:files', false],
    ['write', 'read:keys', true],
    ['admin', 'write:profile', true],
    ['read:files', 'read:files', true],
    ['read:files', 'read:actions', false],
    ['admin:files', 'write:files', true],
    ['write:files', 'admin:files', false],
    [`file:${fileIds[0]}:write`, 'read:files', false],
  ])('of %s for %s: %s', (text, requirement, isAllowed) => {
    expect(scopeAllows(parseScope(text), requirement)).toBe(isAllowed)
  })
})

describe('intersectScopes', () => {
  const maybeScope = fc.option(anyScope, { nil: undefined })

  test('allows exactly what both allow', () => {
    fc.assert(
      fc.property(maybeScope, maybeScope, anyRequirement, (held, asked, requirement) => {
        const both = scopeAllows(held, requirement) && scopeAllows(asked, requirement)
        expect(scopeAllows(intersectScopes(held, asked), requirement)).toBe(both)
      }),
      { numRuns: 2000 },
    )
  })

  test('reaches a file exactly as far as both do', () => {
    fc.assert(
      fc.property(maybeScope, maybeScope, anyFile, (held, asked, fileId) => {
        const both = Math.min(reachOf(held, fileId), reachOf(asked, fileId))
        expect(reachOf(intersectScopes(held, asked), fileId)).toBe(both)
      }),
      { numRuns: 2000 },
    )
  })

  test('keeps each item once', () => {
    fc.assert(
      fc.property(anyScope, anyScope, (held, asked) => {
        const both = intersectScopes(held, asked) ?? []
        expect(new Set(both.map((item) => formatScope([item]))).size).toBe(both.length)
      }),
    )
  })

  test('answers an empty scope, not none, when nothing is left', () => {
    expect(intersectScopes(parseScope('read:files'), parseScope('read:actions'))).toEqual([])
  })

  test('never raises a level', () => {
    const rank = (level: AccessLevel) => accessLevels.indexOf(level)
    expect(intersectScopes(parseScope('read:files'), parseScope('admin'))).toEqual([
      { level: 'read', area: 'files' },
    ])
    expect(rank('read')).toBeLessThan(rank('admin'))
  })
})
