import { expect, test } from 'vitest'
import { idTag } from '#harness/http-site.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { findPublicPage, type PublicContent, type PublicPost } from './find-public.ts'

const alice: Tenant = { tenantId: 1 as TenantId, idTag: idTag('alice.example'), type: 'person' }

function postWith(...attachments: string[]): PublicPost {
  const issuer = { idTag: 'alice.example', name: 'Alice' }
  const absent = { title: undefined, summary: undefined, text: undefined }
  return {
    actionId: 'a1~x',
    issuer,
    createdAt: '2026-01-31T12:00:00.000Z',
    ...absent,
    attachments,
    alt: new Map([
      ['picture 4', 'A rose'],
      ['picture 5', ''],
    ]),
  }
}

test('twenty posts are asked for at once, and all their pictures are', async () => {
  const asked: unknown[] = []
  const posts = Array.from({ length: 20 }, (_, at) => postWith(`picture ${at}`, `note ${at}`))
  const content: PublicContent = {
    async findOwner(tenant) {
      asked.push('owner')
      return { ...tenant, name: 'Alice', bio: undefined, pictureId: undefined }
    },
    async listPosts(_, page) {
      asked.push(page)
      return { posts, nextCursor: null }
    },
    findPost: async () => undefined,
    async listPictures(_, fileIds) {
      asked.push(fileIds.length)
      return new Map(fileIds.filter((id) => id.startsWith('picture')).map((id) => [id, `${id}.png`]))
    },
  }
  const page = await findPublicPage(content, alice, undefined)
  expect(asked).toHaveLength(3)
  expect(asked).toEqual(expect.arrayContaining([{ limit: 20, cursor: undefined }, 'owner', 40]))
  expect(page.posts[3]?.pictures).toEqual([{ fileId: 'picture 3', alt: 'picture 3.png' }])
  expect(page.posts[4]?.pictures).toEqual([{ fileId: 'picture 4', alt: 'A rose' }])
  expect(page.posts[5]?.pictures).toEqual([{ fileId: 'picture 5', alt: '' }])
})
