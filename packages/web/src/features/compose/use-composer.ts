import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { notify } from '#platform/notices.ts'
import { useTexts } from '#ui/use-texts.ts'
import { composeTexts } from './compose-texts.ts'
import {
  type Draft,
  type DraftFile,
  isEmpty,
  isPicture,
  lengthOf,
  maxFiles,
  maxTextLength,
  timeProblem,
} from './draft.ts'
import { changeDraft, dropDraft, releaseDraft } from './drafts.ts'
import { rememberAudience } from './open-draft.ts'
import { share } from './outbox.ts'
import { forgetOnServer, saveLater, saveNow } from './save-draft.ts'
import { addFiles, forgetSources } from './uploads.ts'

/** What can be done with the draft that is written. */
export function useComposer(draft: Draft) {
  const t = useTexts(composeTexts)
  const [, navigate] = useLocation()
  const [isKept, setKept] = useState(true)
  const [asking, setAsking] = useState<'not-yet' | 'now' | 'done'>('not-yet')
  const { id } = draft
  // What another visit left unsaved.
  useEffect(() => saveLater(id), [id])
  const change = (part: Partial<Draft>) => {
    setKept(changeDraft(id, { ...part, changedAt: Date.now() }))
    saveLater(id)
  }
  const disabledWhy = useReason(draft)
  const undescribed = draft.files.filter((file) => isPicture(file) && !file.alt).length
  const tellLeft = (left: number) => void (left > 0 && notify(t.tooMany(left), { kind: 'failed' }))
  const send = () => {
    rememberAudience(draft)
    share(id)
    navigate('/')
  }
  return {
    change,
    isKept,
    disabledWhy,
    undescribed,
    isAsking: asking === 'now',
    stopAsking: () => setAsking('done'),
    send,
    discard: () => {
      throwAway(draft)
      notify(t.discarded)
      navigate('/')
    },
    submit: () => {
      if (disabledWhy !== undefined) return
      if (undescribed === 0 || asking === 'done') send()
      else setAsking('now')
    },
    add: (files: readonly File[]) => tellLeft(addFiles(id, files)),
    addOwn: (own: readonly DraftFile[]) => {
      change({ files: [...draft.files, ...own].slice(0, maxFiles) })
      tellLeft(draft.files.length + own.length - maxFiles)
    },
    putAside: () => {
      park(id)
      navigate('/new')
    },
  }
}

function park(id: string): void {
  changeDraft(id, { isParked: true })
  saveNow(id).catch(() => undefined)
  releaseDraft(id)
}

function throwAway({ id, files, actionId }: Draft): void {
  forgetSources(files)
  dropDraft(id)
  if (actionId !== undefined) forgetOnServer(actionId).catch(() => undefined)
}

/** Why the draft cannot be shared now. */
function useReason(draft: Draft): string | undefined {
  const t = useTexts(composeTexts)
  if (isEmpty(draft)) return t.empty
  if (lengthOf(draft.text) > maxTextLength) return t.tooLong
  const missing = draft.files.filter(({ fileId }) => fileId === undefined).length
  if (missing > 0) return t.uploadsLeft(missing)
  return Object.keys(timeProblem(draft, Date.now())).length > 0 ? t.wrongTime : undefined
}
