import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadSources, root, type SourceFile } from '#harness/source-files.ts'

const source = join(root, 'packages/server/src')

const isTest = (file: SourceFile) => file.path.endsWith('.test.ts')
const isForTests = (file: SourceFile) => isTest(file) || file.path.includes('/test/')
const everything = ['packages', 'examples', 'bench', 'scripts'].flatMap(loadSources)
const shipped = everything.filter((file) => /^packages\/\w+\/src\//.test(file.path) && !isTest(file))

const ranks = { protocol: 0, lib: 1, infra: 2, features: 3, app: 4 } as const
type Rank = keyof typeof ranks

function rankOf(path: string): Rank | undefined {
  if (path.startsWith('packages/protocol/')) return 'protocol'
  const room = /^packages\/server\/src\/(lib|infra|features|app)\//.exec(path)?.[1]
  return room as Rank | undefined
}

/** `infra/db` of `packages/server/src/infra/db/sqlite.ts`, for rooms that have doors. */
function roomOf(path: string): string | undefined {
  return /^packages\/server\/src\/((?:infra|features)\/[^/]+)\//.exec(path)?.[1]
}

function offences(
  files: readonly SourceFile[],
  isOffence: (file: SourceFile, target: string) => boolean,
): string[] {
  return files.flatMap((file) =>
    file.imports.filter((target) => isOffence(file, target)).map((target) => `${file.path} -> ${target}`),
  )
}

describe('imports', () => {
  test('point left: protocol <- lib <- infra <- features <- app', () => {
    const wrong = offences(shipped, (file, target) => {
      const from = rankOf(file.path)
      const to = rankOf(target)
      return from !== undefined && to !== undefined && ranks[to] > ranks[from]
    })
    expect(wrong).toEqual([])
  })

  test('reach another room only through its door', () => {
    const wrong = offences(shipped, (file, target) => {
      const room = roomOf(target)
      return room !== undefined && room !== roomOf(file.path) && !target.endsWith(`${room}/index.ts`)
    })
    expect(wrong).toEqual([])
  })

  test('of the protocol and the client need no runtime of their own', () => {
    const portable = shipped.filter((file) => /^packages\/(protocol|client)\//.test(file.path))
    const allowed = /^(packages\/(protocol|client)\/|typebox$)/
    // They run in browsers as well.
    const libraries: readonly [RegExp, RegExp][] = [
      [/^packages\/client\/src\/crdt\//, /^(yjs$|y-protocols\/|lib0\/|idb$)/],
      [/^packages\/client\/src\/rtdb\//, /^idb$/],
      // A plugin of bundlers, which run in Node.
      [/^packages\/client\/src\/build\//, /^node:/],
    ]
    const mayUse = (path: string, target: string) =>
      libraries.some(([user, library]) => user.test(path) && library.test(target))
    const isOffence = ({ path }: SourceFile, target: string) => !allowed.test(target) && !mayUse(path, target)
    expect(offences(portable, isOffence)).toEqual([])
  })

  test('of the SDK for apps are of the protocol and the client alone', () => {
    const sdk = shipped.filter(({ path }) => path.startsWith('packages/app/'))
    expect(sdk.length).toBeGreaterThan(10)
    const isOffence = (_: SourceFile, target: string) => !/^packages\/(protocol|client|app)\//.test(target)
    expect(offences(sdk, isOffence)).toEqual([])
    // The page of a server loads its modules as they are, and nothing else.
    const host = sdk.filter(({ path }) => /\/(host|messages)\//.test(path))
    expect(offences(host, (_, target) => !/^packages\/app\/src\/(host|messages)\//.test(target))).toEqual([])
  })

  test('leave the web app to itself: the server knows its build and nothing else of it', () => {
    // The demo tells the story that the app is tested with.
    const isStory = (path: string, target: string) =>
      path.startsWith('scripts/demo-web') && target.startsWith('packages/web/test/story/')
    const isOffence = ({ path }: SourceFile, target: string) =>
      !path.startsWith('packages/web/') && target.startsWith('packages/web/') && !isStory(path, target)
    expect(offences(everything, isOffence)).toEqual([])
  })

  test('never make shipped code depend on tests', () => {
    expect(offences(shipped, (_, target) => /\/test\/|\.test\.ts$/.test(target))).toEqual([])
  })
})

describe('features and infra modules', () => {
  test('form no cycles', () => {
    const graph = new Map<string, Set<string>>()
    for (const file of shipped) {
      const from = roomOf(file.path)
      if (!from) continue
      const targets = graph.get(from) ?? new Set<string>()
      for (const target of file.imports.map(roomOf)) if (target && target !== from) targets.add(target)
      graph.set(from, targets)
    }
    expect(findCycle(graph)).toBeUndefined()
  })

  test('have a door', () => {
    const rooms = [...new Set(shipped.map((file) => roomOf(file.path)).filter((room) => room !== undefined))]
    const doorless = rooms.filter(
      (room) => !statSync(join(source, room, 'index.ts'), { throwIfNoEntry: false }),
    )
    expect(doorless).toEqual([])
  })
})

// A page of files or actions is filtered in SQL by what other rooms keep: these files read those tables, and write none.
const readAcross: Readonly<Record<string, readonly string[]>> = {
  'actions/feed/feed-filter-predicate.ts': ['relations'],
  'actions/feed/feed-query-store.ts': ['profiles'],
  'apps/offers/offer-predicate.ts': ['actions', 'relations'],
  'apps/offers/offer-store.ts': ['actions'],
  'conversations/conversation-list-store.ts': ['profiles', 'relations'],
  'conversations/conversations-migrations.ts': ['actions', 'tenants'],
  'files/access/attached-files-store.ts': ['action_attachments', 'actions'],
  'files/access/file-access-predicate.ts': ['action_attachments', 'actions'],
  'files/access/list-candidates-predicate.ts': ['action_attachments'],
  'files/collections/collection-store.ts': ['actions'],
  'files/copies/copy-store.ts': ['action_attachments'],
  'files/copies/unfetched-file-store.ts': ['action_attachments', 'actions'],
  'profiles/known-profile-store.ts': ['relations'],
  'profiles/profile-sweep-store.ts': ['relations'],
  'relations/visibility/readable-predicate.ts': ['action_recipients', 'actions'],
  'relations/visibility/silenced-predicate.ts': ['domain_blocks'],
}

describe('what happens', () => {
  const naming = (pattern: RegExp) => shipped.filter(({ text }) => pattern.test(text)).map(({ path }) => path)

  test('is answered as one table says', () => {
    const programs = ['app/cli/open-program.ts', 'app/features.ts'].map(
      (path) => `packages/server/src/${path}`,
    )
    expect(naming(/\bevents\.subscribe\(reactionsOf\(/)).toEqual(programs)
    expect(naming(/\bnew Events</)).toEqual(programs)
    expect(naming(/\bon[A-Z]\w*\?(: \(|\()\s*tx: Writer/)).toEqual([])
  })

  test('to relations is said: nothing but their own room changes them in silence', () => {
    const changing = naming(/\bchangeRelation\(/)
    expect(changing.filter((path) => !path.startsWith('packages/server/src/features/relations/'))).toEqual([])
  })

  test('is done by callers that are made in one place', () => {
    expect(naming(/kind: 'identity',/)).toEqual(['packages/server/src/infra/caller/caller.ts'])
  })
})

// What the program itself decides: from its configuration, its folders and its addresses.
const ofTheProgram = [
  'addresses',
  'assert-no-old-data',
  'assert-startable',
  'check-tls-files',
  'data-owner',
  'find-commit',
  'finish-restore',
  'full-disk',
  'last-backup',
  'lock-data-dir',
  'operations-routes',
  'served-tenants',
  'server',
  'server-checks',
  'server-vault',
  'services',
  'set-up-link',
  'settings-mailer',
  'tls',
  'upgrade-copies',
]

describe('wiring', () => {
  const wiring = shipped.filter(({ path }) => {
    const name = /^packages\/server\/src\/app\/([\w-]+)\.ts$/.exec(path)?.[1]
    return name !== undefined && !ofTheProgram.includes(name)
  })

  test('decides nothing: rules are in rooms, and `app` makes and joins', () => {
    const decision = /\b(if|for|while|switch)\b \(|\bthrow\b|[!=]==|&&|\|\||\?\?|\?\.| \? /
    const deciding = wiring.flatMap(({ path, text }) =>
      withoutComments(text)
        .split('\n')
        .filter((line) => decision.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    )
    expect(wiring.length).toBeGreaterThan(12)
    expect(deciding).toEqual([])
  })

  test('keeps files to 150 lines', () => {
    expect(wiring.filter((file) => lines(file) > 151).map(({ path }) => path)).toEqual([])
  })
})

describe('tables', () => {
  const owners = new Map(
    shipped.flatMap((file) =>
      [...file.text.matchAll(/createTable\(\s*'(\w+)'|create virtual table (?:if not exists )?(\w+)/g)].map(
        ([, named, virtual]) => [named ?? virtual ?? '', roomOf(file.path) ?? ''] as const,
      ),
    ),
  )

  test('are made in rooms', () => {
    expect(owners.size).toBeGreaterThan(40)
    expect([...owners].filter(([, room]) => room === '')).toEqual([])
  })

  test('are named in their own room, or read by a listed statement of another', () => {
    const across: Record<string, string[]> = {}
    for (const file of shipped) {
      const room = roomOf(file.path)
      if (!/-(store|predicate|tables|migrations)\.ts$/.test(file.path)) continue
      const foreign = tablesIn(file.text).filter((table) => owners.has(table) && owners.get(table) !== room)
      if (room && foreign.length > 0) across[file.path.replace(/^.*\/features\//, '')] = foreign
    }
    expect(across).toEqual(readAcross)
  })

  test('are written in their own room alone', () => {
    const writes =
      /(?:insertInto|updateTable|deleteFrom)\('(\w+)|\b(?:insert into|update|delete from) (\w+)|\btable: '(\w+)'/g
    const wrong = shipped.flatMap((file) =>
      [...file.text.matchAll(writes)]
        .map((match) => match[1] ?? match[2] ?? match[3] ?? '')
        .filter((table) => roomOf(file.path) && owners.has(table) && owners.get(table) !== roomOf(file.path))
        .map((table) => `${file.path} writes ${table}`),
    )
    expect(wrong).toEqual([])
  })
})

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '')
}

/** The tables that statements in a text name, sorted. */
function tablesIn(text: string): string[] {
  const code = withoutComments(text)
  const builder = /(?:selectFrom|[jJ]oin|insertInto|updateTable|deleteFrom|from|using)\(\s*\[?'(\w+)/g
  const raw = /\b(?:from|join|into|update|table:)\s+'?(\w+)/g
  const found = [builder, raw].flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => match[1] ?? ''),
  )
  return [...new Set(found)].sort()
}

function findCycle(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const finished = new Set<string>()
  const visit = (room: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(room)) return [...trail.slice(trail.indexOf(room)), room]
    if (finished.has(room)) return undefined
    for (const next of graph.get(room) ?? []) {
      const cycle = visit(next, [...trail, room])
      if (cycle) return cycle
    }
    finished.add(room)
    return undefined
  }
  for (const room of graph.keys()) {
    const cycle = visit(room, [])
    if (cycle) return cycle
  }
  return undefined
}

/** Places where a word may stand; everywhere else in shipped server code it may not. */
const confined: readonly { readonly what: string; readonly pattern: RegExp; readonly allowed: RegExp }[] = [
  {
    what: 'the environment',
    pattern: /\bprocess\.env\b/,
    allowed: /^packages\/server\/src\/(infra\/config|app\/cli)\//,
  },
  {
    what: 'the system clock',
    pattern: /\bDate\.now\(\)|new Date\(\)/,
    allowed: /^packages\/(server\/src\/lib\/clock\.ts|(client|web)\/)/,
  },
  {
    what: 'the query builder',
    pattern: /from 'kysely'/,
    allowed:
      /^packages\/server\/src\/(infra\/db\/|(infra|features)\/([a-z-]+\/)+[a-z-]*(store|tables|migrations|predicate)\.ts)/,
  },
  {
    what: 'the bundler',
    pattern: /'rolldown'/,
    allowed: /^packages\/server\/src\/app\/cli\/app\/bundle-scripts\.ts$/,
  },
  {
    what: 'raw HTTP',
    pattern: /from '(node:https?|undici|fastify)'|\bfetch\(/,
    allowed:
      /^packages\/(server\/src\/(infra\/(egress|http|proxy|telemetry|ws)|app)\/|app\/src\/host\/file-access\.ts|client\/|web\/src\/(platform|worker)\/)/,
  },
  {
    what: 'process output',
    pattern: /process\.std(out|err)\b/,
    allowed: /^packages\/server\/src\/(app|infra\/telemetry)\//,
  },
  {
    // Commands print by their input, which escapes.
    what: 'an unescaped terminal',
    pattern: /\bstd(out|err)\.write\(|\bconsole\./,
    allowed: /^packages\/(server\/src\/app\/cli\/(main|ask-secret)\.ts$|(?!server\/))/,
  },
]

describe('shipped code', () => {
  test.each(confined)('uses $what only where it belongs', ({ pattern, allowed }) => {
    const wrong = shipped.filter((file) => pattern.test(file.text) && !allowed.test(file.path))
    expect(wrong.map((file) => file.path)).toEqual([])
  })

  test('keeps files to one subject: at most 400 lines, tests 800', () => {
    const long = everything.filter((file) => lines(file) > (isForTests(file) ? 800 : 400))
    expect(long.map((file) => `${file.path}: ${lines(file)}`)).toEqual([])
  })

  test('has no file named after nothing in particular', () => {
    const vague = /\/(utils?|helpers?|common|manager|types|misc)\.ts$/
    expect(everything.map((file) => file.path).filter((path) => vague.test(path))).toEqual([])
  })
})

function lines(file: SourceFile): number {
  return file.text.split('\n').length
}
