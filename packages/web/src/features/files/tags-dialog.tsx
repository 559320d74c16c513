import type { FileView } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Field } from '#ui/field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { knownTags } from './files-query.ts'
import { filesTexts } from './files-texts.ts'

interface TagsDialogProps {
  readonly files: readonly FileView[]
  readonly onTags: (change: {
    readonly added: readonly string[]
    readonly removed: readonly string[]
  }) => void
  readonly onClose: () => void
}

const read = (text: string) => [...new Set(text.split(',').map((tag) => tag.trim()))].filter(Boolean)

/** Asks for tags: shown are those that all of the files have. */
export function TagsDialog({ files, onTags, onClose }: TagsDialogProps) {
  const t = useTexts(filesTexts)
  const common = (files[0]?.tags ?? []).filter((tag) => files.every(({ tags }) => tags.includes(tag)))
  const [text, setText] = useState(common.join(', '))
  const [problem, setProblem] = useState<string>()
  const known = useQuery(knownTags)
  const tags = read(text)
  const save = () => {
    if (tags.some((tag) => [...tag].length > 64)) return setProblem(t.tagsWrong)
    onTags({
      added: tags.filter((tag) => !common.includes(tag)),
      removed: common.filter((tag) => !tags.includes(tag)),
    })
  }
  return (
    <Dialog title={t.tags} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <Field
          label={t.tags}
          hint={t.tagsHint}
          value={text}
          problem={problem}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <div class="row">
          {(known.data ?? [])
            .filter(({ tag }) => !tags.includes(tag))
            .slice(0, 12)
            .map(({ tag }) => (
              <Button needsServer key={tag} icon="tag" onClick={() => setText([...tags, tag].join(', '))}>
                {tag}
              </Button>
            ))}
        </div>
        <Button needsServer kind="primary" type="submit">
          {t.save}
        </Button>
      </form>
    </Dialog>
  )
}
