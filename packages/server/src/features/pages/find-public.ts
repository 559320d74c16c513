import type { Tenant } from '#infra/caller/index.ts'

/** Who a public page is about. */
export interface PublicOwner {
  readonly idTag: string
  readonly name: string
  readonly type: Tenant['type']
  readonly bio: string | undefined
  /** A file of the tenant's own that everybody may see. */
  readonly pictureId: string | undefined
}

export interface PublicPost {
  readonly actionId: string
  readonly issuer: { readonly idTag: string; readonly name: string }
  /** ISO 8601. */
  readonly createdAt: string
  readonly title: string | undefined
  readonly summary: string | undefined
  readonly text: string | undefined
  /** File ids. */
  readonly attachments: readonly string[]
  /** What attached pictures show, in the words of the author, by file id. Empty: it only decorates. */
  readonly alt: ReadonlyMap<string, string>
}

/** A post with its attachments that are pictures on this host, which everybody may see. */
export interface ShownPost extends PublicPost {
  readonly pictures: readonly { readonly fileId: string; readonly alt: string }[]
}

/** What guests may read of a tenant; who that is, the features decide whose data it is. */
export interface PublicContent {
  findOwner(tenant: Tenant): Promise<PublicOwner>
  /** Fails with `E-VALIDATION` for what is no cursor. */
  listPosts(
    tenant: Tenant,
    page: { readonly limit: number; readonly cursor: string | undefined },
  ): Promise<{ readonly posts: readonly PublicPost[]; readonly nextCursor: string | null }>
  findPost(tenant: Tenant, actionId: string): Promise<PublicPost | undefined>
  /** The names of those of these files that are pictures for everybody, by file id. */
  listPictures(tenant: Tenant, fileIds: readonly string[]): Promise<ReadonlyMap<string, string>>
}

const postsOfPage = 20

export interface ShownPage {
  readonly owner: PublicOwner
  readonly posts: readonly ShownPost[]
  readonly nextCursor: string | null
}

export async function findPublicPage(
  content: PublicContent,
  tenant: Tenant,
  cursor: string | undefined,
): Promise<ShownPage> {
  const page = await content.listPosts(tenant, { limit: postsOfPage, cursor })
  const [owner, posts] = await Promise.all([
    content.findOwner(tenant),
    withPictures(content, tenant, page.posts),
  ])
  return { owner, posts, nextCursor: page.nextCursor }
}

export async function findPublicPost(
  content: PublicContent,
  tenant: Tenant,
  actionId: string,
): Promise<{ owner: PublicOwner; post: ShownPost } | undefined> {
  const found = await content.findPost(tenant, actionId)
  if (!found) return undefined
  const [owner, [post]] = await Promise.all([
    content.findOwner(tenant),
    withPictures(content, tenant, [found]),
  ])
  return post && { owner, post }
}

async function withPictures(
  content: PublicContent,
  tenant: Tenant,
  posts: readonly PublicPost[],
): Promise<ShownPost[]> {
  const names = await content.listPictures(
    tenant,
    posts.flatMap(({ attachments }) => attachments),
  )
  return posts.map((post) => ({
    ...post,
    pictures: post.attachments.flatMap((fileId) => {
      const name = names.get(fileId)
      return name === undefined ? [] : [{ fileId, alt: post.alt.get(fileId) ?? name }]
    }),
  }))
}
