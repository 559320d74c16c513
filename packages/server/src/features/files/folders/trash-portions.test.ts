import type { FileId } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bobTag, type FilesLab, filesLab, identity } from '#harness/files-lab.ts'
import type { Database } from '#infra/db/index.ts'
import { sweepTrash } from './sweep-trash.ts'
import { emptyTrash, removeFile, restoreFile, type TrashDeps, trashFile } from './trash-file.ts'

const owner = identity(aliceTag, alice)
const visitor = identity(bobTag, alice)

interface Tree {
  readonly root: FileId
  /** All that is in it. */
  readonly inner: readonly string[]
}

/** A folder with a folder and files, which Bob may write. */
async function makeTree(lab: FilesLab): Promise<Tree> {
  const make = async (json: object): Promise<FileId> =>
    (await lab.send('POST', '/api/files', { as: owner, json })).json.data.fileId
  const root = await make({ fileTp: 'FLDR', fileName: 'root' })
  const box = await make({ fileTp: 'FLDR', parentId: root })
  const inner: string[] = [box]
  inner.push(await make({ fileTp: 'CRDT', parentId: root }))
  inner.push((await lab.upload('a', 'a', { query: `?parentId=${box}&tags=t` })).json.data.fileId)
  const share = { subjectType: 'U', subjectId: bobTag, permission: 'W' }
  await lab.send('POST', `/api/files/${root}/shares`, { as: owner, json: share })
  return { root, inner }
}

/** What lists and single reads say of a tree: each of these words is about all of it. */
async function look(lab: FilesLab, { root, inner }: Tree): Promise<string[]> {
  const found: string[] = []
  const all = [root, ...inner]
  for (const as of [owner, visitor]) {
    const ids = async (query: string) => {
      const { data } = (await lab.send('GET', `/api/files?limit=50&${query}`, { as })).json
      return data.map(({ fileId }: { fileId: string }) => fileId).filter((id: string) => all.includes(id))
    }
    const count = (listed: string[]) =>
      listed.length === 0 ? 'none' : listed.length === all.length ? 'all' : 'half'
    const single = new Set<string>()
    for (const id of all) {
      const { json } = await lab.send('GET', `/api/files/${id}/metadata`, { as })
      single.add(json.data ? (json.data.status === 'D' ? 'trashed' : 'there') : 'gone')
    }
    const list = count(await ids('sort=name'))
    const trash = count(await ids('status=D'))
    const both = count(await ids('status=A,M,P,D'))
    const isRoot = (await ids('parentId=__trash__')).includes(root)
    found.push([...single, list, trash, both, isRoot].join(' '))
  }
  return [...new Set(found)]
}

const there = 'there all none all false'
const trashed = 'trashed none all all true'
const gone = 'gone none none none false'

/** Looks at the tree after each transaction of a change, and may die after some. */
function watched(lab: FilesLab, tree: Tree, dieAfter = Number.POSITIVE_INFINITY) {
  const seen: string[][] = []
  const { db } = lab
  const transact: Database['transact'] = async (tenantId, work, options) => {
    if (seen.length >= dieAfter) throw new Error('died')
    const result = await db.transact(tenantId, work, options)
    seen.push(await look(lab, tree))
    return result
  }
  const reader: Database['reader'] = (tenantId) => db.reader(tenantId)
  const deps: TrashDeps = {
    ...lab.deps,
    db: { ...db, dialect: db.dialect, reader, transact },
    filesPerPortion: 1,
  }
  return { deps, seen }
}

type Work = (deps: TrashDeps, root: FileId) => Promise<unknown>
const question = (fileId: FileId) => ({ tenant: alice, caller: owner, fileId })
const trash: Work = (deps, root) => trashFile(deps, question(root))
const works: [string, Work, before: string, after: string, whenItCounts: 'first' | 'last'][] = [
  ['trashed', trash, there, trashed, 'first'],
  [
    'restored',
    (deps, root) => restoreFile(deps, { ...question(root), parentId: undefined }),
    trashed,
    there,
    'last',
  ],
  ['removed', (deps, root) => removeFile(deps, question(root)), trashed, gone, 'first'],
  [
    'removed with all the trash',
    (deps) => emptyTrash(deps, { tenant: alice, caller: owner }),
    trashed,
    gone,
    'first',
  ],
]

eachDialect('A folder that is changed in portions', (open) => {
  const openLab = filesLab(open)

  for (const [name, work, before, after, whenItCounts] of works)
    test(`is ${name} at one moment for all readers`, async () => {
      const lab = await openLab()
      const tree = await makeTree(lab)
      if (before === trashed) await trash(lab.deps, tree.root)
      expect(await look(lab, tree)).toEqual([before])
      const { deps, seen } = watched(lab, tree)
      await work(deps, tree.root)
      expect(seen.length).toBeGreaterThan(3)
      const expected = seen.map((_, at) =>
        whenItCounts === 'first' || at === seen.length - 1 ? after : before,
      )
      expect(seen).toEqual(expected.map((one) => [one]))
      expect(await lab.inconsistencies()).toEqual([])
    })
})

eachDialect('A folder that was being changed when the process died', (open) => {
  const openLab = filesLab(open)

  test.each(works)('is %s all the same', async (_, work, before, after, whenItCounts) => {
    for (const dieAfter of [1, 2]) {
      const lab = await openLab()
      const tree = await makeTree(lab)
      if (before === trashed) await trash(lab.deps, tree.root)
      const { deps, seen } = watched(lab, tree, dieAfter)
      await expect(work(deps, tree.root)).rejects.toThrow('died')
      expect(seen.at(-1)).toEqual([whenItCounts === 'first' ? after : before])
      lab.clock.advance(60_000)
      await sweepTrash(lab.deps)
      expect(await look(lab, tree)).toEqual([after])
      expect(await lab.inconsistencies()).toEqual([])
    }
  })

  test('is taken out of the trash while it still goes there', async () => {
    const lab = await openLab()
    const tree = await makeTree(lab)
    await expect(trash(watched(lab, tree, 1).deps, tree.root)).rejects.toThrow('died')
    await restoreFile({ ...lab.deps, filesPerPortion: 2 }, { ...question(tree.root), parentId: undefined })
    expect(await look(lab, tree)).toEqual([there])
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('gives up for good what was about to come back', async () => {
    const lab = await openLab()
    const tree = await makeTree(lab)
    await trash(lab.deps, tree.root)
    const restoring = restoreFile(watched(lab, tree, 2).deps, { ...question(tree.root), parentId: undefined })
    await expect(restoring).rejects.toThrow('died')
    await removeFile({ ...lab.deps, filesPerPortion: 2 }, question(tree.root))
    expect(await look(lab, tree)).toEqual([gone])
    expect(await lab.usage()).toEqual({ used_bytes: 0, files: 0 })
  })

  test('takes nothing in, and gives nothing away, before it is in the trash whole', async () => {
    const lab = await openLab()
    const tree = await makeTree(lab)
    await expect(trash(watched(lab, tree, 1).deps, tree.root)).rejects.toThrow('died')
    const [box, file] = tree.inner
    const put = await lab.upload('x', 'x', { query: `?parentId=${box}` })
    expect(put.status).toBe(404)
    const moved = await lab.send('PATCH', `/api/files/${file}`, { as: owner, json: { parentId: null } })
    expect(moved.status).toBe(409)
    expect((await lab.send('GET', '/api/tags', { as: owner })).json.data).toEqual([])
  })
})
