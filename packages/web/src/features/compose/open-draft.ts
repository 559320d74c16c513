import { type Action, cancelAction, getAction, getFileMetadata, getSetting } from '@kith/protocol'
import { textOfShared, tooLargeShare } from '#lib/shared-in.ts'
import { textsIn } from '#lib/texts.ts'
import { client } from '#platform/client.ts'
import { readDevice, writeDevice } from '#platform/device-storage.ts'
import { language } from '#platform/language.ts'
import { notify } from '#platform/notices.ts'
import { takeShared } from '#platform/shared-in.ts'
import { composeTexts } from './compose-texts.ts'
import {
  bodyOf,
  contentsOf,
  type Draft,
  type DraftFile,
  draftFileOf,
  maxFiles,
  readAudience,
} from './draft.ts'
import { changeDraft, draftStore, holdDraft, listDrafts, newDraft } from './drafts.ts'
import { lastLanguage } from './language-field.tsx'
import { addFiles } from './uploads.ts'

const home = 'home'

/** The audience of a new post of a place: the one that was chosen there last, else the account's setting. */
async function audienceIn(place: string): Promise<string> {
  const chosen = readDevice(`audience:${place}`)
  if (typeof chosen === 'string') return chosen
  if (place !== home) return `C:${place}`
  try {
    const { data } = await client.call(getSetting, { params: { name: 'profile.default_visibility' } })
    return readAudience(String(data[1])).visibility
  } catch {
    // Where it cannot be known, to the fewest.
    return 'C'
  }
}

/** Keeps what was chosen for the next post of the same place. */
export function rememberAudience({ place, audience }: Draft): void {
  writeDevice(`audience:${place}`, audience)
}

/** The draft that an address of the composer means, held for this tab; undefined where another tab has it. */
export async function openDraft(query: URLSearchParams): Promise<string | undefined> {
  const id = query.get('draft')
  if (id !== null && draftStore(id).get()) return (await holdDraft(id)) ? id : undefined
  const actionId = query.get('action')
  if (actionId !== null) return await openOf(actionId, ({ actionId: own }) => own === actionId)
  const again = query.get('again')
  if (again !== null) return await openOf(again, ({ replaces }) => replaces === again)
  const quotes = query.get('quote')
  if (quotes !== null)
    return await held(
      newDraft({ place: home, quotes, lang: lastLanguage(), audience: await audienceIn(home) }),
    )
  const shared = query.get('shared')
  if (shared !== null) return await openShared(shared)
  const files = query.get('files')
  const place = query.get('to') ?? home
  if (files !== null)
    return await held(newDraft({ place, lang: lastLanguage(), ...(await startOf(place, files)) }))
  return await openEmpty(place)
}

/** What is unfinished in a place, else an empty one. */
async function openEmpty(place: string): Promise<string> {
  const started = await findUnfinished(place)
  return started ?? (await held(newDraft({ place, lang: lastLanguage(), audience: await audienceIn(place) })))
}

/** A post of its own of what another program has handed over. */
async function openShared(sharedId: string): Promise<string> {
  const t = textsIn(composeTexts, language.get())
  const shared = await takeShared(sharedId)
  if (!shared) {
    notify(sharedId === tooLargeShare ? t.sharedTooLarge : t.sharedLost, { kind: 'failed' })
    return await openEmpty(home)
  }
  const audience = await audienceIn(home)
  const id = await held(newDraft({ place: home, lang: lastLanguage(), audience, text: textOfShared(shared) }))
  const left = addFiles(id, shared.files)
  if (left > 0) notify(t.tooMany(left), { kind: 'failed' })
  return id
}

async function held({ id }: Draft): Promise<string> {
  await holdDraft(id)
  return id
}

async function findUnfinished(place: string): Promise<string | undefined> {
  for (const draft of listDrafts()) {
    if (draft.place !== place || draft.isParked || draft.leavesAt !== undefined) continue
    if (await holdDraft(draft.id)) return draft.id
  }
  return undefined
}

/** Opens a draft of the server, or a post to write again; the one of this browser where there is one. */
async function openOf(actionId: string, isIt: (draft: Draft) => boolean): Promise<string | undefined> {
  const known = listDrafts().find(isIt)
  if (known) {
    if (!(await holdDraft(known.id))) return undefined
    changeDraft(known.id, { isParked: false, leavesAt: undefined })
    return known.id
  }
  const params = { actionId: actionId as never }
  const { data } = await client.call(getAction, { params })
  if (data.status === 'S') await client.call(cancelAction, { params })
  return await held(draftOf(data))
}

function draftOf(action: Action): Draft {
  const draft = newDraft({ place: home, ...contentsOf(action) })
  const isDraft = action.status === 'R' || action.status === 'S'
  const link: Partial<Draft> = isDraft
    ? { actionId: action.actionId, saved: JSON.stringify(bodyOf(draft)) }
    : { replaces: action.actionId }
  changeDraft(draft.id, link)
  return draft
}

async function startOf(place: string, ids: string): Promise<Pick<Draft, 'audience' | 'files'>> {
  const files = await Promise.all(ids.split(',').slice(0, maxFiles).map(findFile))
  return { audience: await audienceIn(place), files }
}

async function findFile(fileId: string): Promise<DraftFile> {
  const { data } = await client.call(getFileMetadata, { params: { fileId: fileId as never } })
  return draftFileOf(data)
}
