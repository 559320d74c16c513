import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bob, filesLab, identity } from '#harness/files-lab.ts'
import { listPublicPictures } from './list-public-pictures.ts'

const owner = identity(aliceTag, alice)
const image = join(import.meta.dirname, '../../../../test/fixtures/images/transparent.png')

eachDialect('pictures for everybody', (open) => {
  const openLab = filesLab(open)

  test('are those that a public action of the tenant shows, as long as they are there', async () => {
    const lab = await openLab()
    const picture = await readFile(image)
    const upload = async (name: string, bytes: Buffer | string = picture): Promise<string> =>
      (await lab.upload(name, bytes, {})).json.data.fileId
    const broken = await upload('broken.png', picture.subarray(0, 500))
    const raw = (await lab.upload('raw.png', picture, { preset: 'raw' })).json.data.fileId
    const [shown, text, toFollowers, trashed, unshown] = await Promise.all([
      upload('shown.png'),
      upload('note.txt', 'a note'),
      upload('for followers.png'),
      upload('trashed.png'),
      upload('unshown.png'),
    ])
    await lab.settle()
    await lab.putAction(alice, {
      visibility: 'P',
      attachments: [shown, text, trashed, broken, raw],
      issuer: aliceTag,
    })
    await lab.putAction(alice, { visibility: 'F', attachments: [toFollowers], issuer: aliceTag })
    await lab.send('DELETE', `/api/files/${trashed}`, { as: owner })
    const asked = [
      shown,
      shown,
      text,
      broken,
      raw,
      toFollowers,
      trashed,
      unshown,
      'no id',
      `b1~${'A'.repeat(43)}`,
    ]
    expect(await listPublicPictures(lab, alice, asked)).toEqual(new Map([[shown, 'shown.png']]))
    expect(await listPublicPictures(lab, bob, asked)).toEqual(new Map())
  })
})
