import { type Action, type ActionId, parseActionId } from '@kith/protocol'
import { guest, type Tenant } from '#infra/caller/index.ts'
import { type Outgoing, RawJson } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import type { ActionBody } from '../action.ts'
import { actionView } from '../action-view.ts'
import { altTextsOf } from '../alt-texts.ts'
import { getShownRow } from './get-action.ts'
import { listWithoutFiles, type ReadDeps } from './list-actions.ts'

/** A post as everybody may read it. */
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
  /** What attached pictures show, by file id. */
  readonly alt: ReadonlyMap<string, string>
}

interface PublicPosts {
  readonly posts: readonly PublicPost[]
  readonly nextCursor: string | null
}

const type = 'POST'

/** The newest posts of a person, or in a community, that guests may read. `cursor` is that of `GET /api/actions`. */
export async function listPublicPosts(
  deps: ReadDeps,
  {
    tenant,
    limit,
    cursor,
  }: { readonly tenant: Tenant; readonly limit: number; readonly cursor: string | undefined },
): Promise<PublicPosts> {
  const issuer = tenant.type === 'person' ? tenant.idTag : undefined
  const page = await listWithoutFiles(deps, {
    tenant,
    caller: guest,
    filter: { types: [type], issuer },
    limit,
    cursor,
  })
  return { posts: page.items.map(toPost), nextCursor: 'nextCursor' in page ? page.nextCursor : null }
}

/** A post that guests may read; undefined for everything else. */
export async function findPublicPost(
  deps: ReadDeps,
  { tenant, actionId: given }: { readonly tenant: Tenant; readonly actionId: string },
): Promise<PublicPost | undefined> {
  const actionId = parseActionId(given)
  const row = actionId && (await findRow(deps, tenant, actionId))
  return row?.type === type ? toPost(actionView(row, false)) : undefined
}

async function findRow(deps: ReadDeps, tenant: Tenant, actionId: ActionId) {
  try {
    return await getShownRow(deps, { tenant, caller: guest, actionId })
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-ACTION-NOTFOUND') return undefined
    throw error
  }
}

function toPost({ actionId, issuer, createdAt, content, attachments = [] }: Outgoing<Action>): PublicPost {
  const members = (content instanceof RawJson ? content.toJSON() : content) as ActionBody['content']
  const { title, summary, text }: Record<string, unknown> = members ?? {}
  const { idTag, name } = issuer
  return {
    actionId,
    issuer: { idTag, name },
    createdAt,
    title: textOf(title),
    summary: textOf(summary),
    text: textOf(text),
    attachments,
    alt: new Map(
      Object.entries(altTextsOf(type, members)).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      ),
    ),
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
