import { useRef, useState } from 'preact/hooks'
import { Button } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { AttachmentList } from './attachment-list.tsx'
import { AudiencePicker } from './audience-picker.tsx'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'
import { DescribeDialog } from './describe-dialog.tsx'
import { type Draft, isEmpty } from './draft.ts'
import { FileButtons } from './file-buttons.tsx'
import { LanguageField } from './language-field.tsx'
import { PlanFields } from './plan-fields.tsx'
import { QuotedPost } from './quoted-post.tsx'
import { SaveState } from './save-state.tsx'
import { ShareButton } from './share-button.tsx'
import { TextField } from './text-field.tsx'
import { useComposer } from './use-composer.ts'

/** The form of a post. */
export function Composer({ draft }: { readonly draft: Draft }) {
  const t = useTexts(composeTexts)
  const form = useRef<HTMLFormElement>(null)
  const composer = useComposer(draft)
  const { change, add } = composer
  const { isDropping, ...dropping } = useDrop(add)
  const focus = (selector: string) => form.current?.querySelector<HTMLElement>(selector)?.focus()
  return (
    <form
      ref={form}
      class={`card stack ${styles.composer}`}
      onSubmit={(event) => event.preventDefault()}
      {...dropping}
    >
      {draft.replaces !== undefined && <Replacing onKeep={() => change({ replaces: undefined })} />}
      {draft.quotes !== undefined && (
        <QuotedPost actionId={draft.quotes} onRemove={() => change({ quotes: undefined })} />
      )}
      <TextField
        text={draft.text}
        onChange={(text) => change({ text })}
        onFiles={add}
        onSubmit={composer.submit}
      />
      {isDropping && <p class={styles.drop}>{t.dropHere}</p>}
      {draft.files.length > 0 && (
        <AttachmentList
          draft={draft}
          onChange={(files) => change({ files })}
          onEmpty={() => focus('textarea')}
        />
      )}
      <FileButtons draft={draft} onFiles={add} onOwn={composer.addOwn} />
      <AudiencePicker draft={draft} onChange={(audience) => change({ audience })} />
      <PlanFields draft={draft} onChange={change} />
      <LanguageField lang={draft.lang ?? ''} onChange={(lang) => change({ lang })} />
      <div class={styles.foot}>
        <ShareButton draft={draft} disabledWhy={composer.disabledWhy} onShare={composer.submit} />
        <SaveState draft={draft} isKept={composer.isKept} />
      </div>
      {!isEmpty(draft) && <Aside onPutAside={composer.putAside} onDiscard={composer.discard} />}
      {composer.isAsking && (
        <DescribeDialog
          count={composer.undescribed}
          onShare={composer.send}
          onDescribe={() => {
            composer.stopAsking()
            setTimeout(() => focus('input[data-control="alt"]:placeholder-shown'))
          }}
        />
      )}
    </form>
  )
}

/** The handlers of an element onto which files are dropped. */
function useDrop(onFiles: (files: readonly File[]) => void) {
  const [isDropping, setDropping] = useState(false)
  return {
    isDropping,
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setDropping(true)
    },
    onDragLeave: () => setDropping(false),
    onDrop: (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setDropping(false)
      onFiles([...event.dataTransfer.files])
    },
  }
}

interface AsideProps {
  readonly onPutAside: () => void
  readonly onDiscard: () => void
}

function Aside({ onPutAside, onDiscard }: AsideProps) {
  const t = useTexts(composeTexts)
  return (
    <div class="row">
      <Button kind="quiet" icon="plus" onClick={onPutAside}>
        {t.another}
      </Button>
      <Button kind="quiet" icon="trash-2" onClick={onDiscard}>
        {t.discard}
      </Button>
    </div>
  )
}

function Replacing({ onKeep }: { readonly onKeep: () => void }) {
  const t = useTexts(composeTexts)
  return (
    <div class={styles.note}>
      <p>{t.again}</p>
      <Button onClick={onKeep}>{t.keepOld}</Button>
    </div>
  )
}
