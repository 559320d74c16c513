import { createApiKey } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { Choice } from '#ui/choice.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Field } from '#ui/field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { keysQuery } from './keys-query.ts'
import { keysTexts } from './keys-texts.ts'
import { useProof } from './proof.tsx'
import styles from './section.module.css'
import { useSubmit } from './use-submit.ts'

const accesses = ['read', 'write', 'full'] as const
const ends = ['30', '365', 'never'] as const
const daySecs = 86_400

/** A form that makes an API key, and shows it once. */
export function NewKey() {
  const t = useTexts(keysTexts)
  const [access, setAccess] = useState<(typeof accesses)[number]>('read')
  const [end, setEnd] = useState<(typeof ends)[number]>('365')
  const [made, setMade] = useState<string>()
  const { run, dialog } = useProof()
  const { problem, isBusy, onSubmit } = useSubmit((form, field) =>
    run(async () => {
      const body = { name: field('name').trim(), ...limitsOf(access, end) }
      const { data } = await client.call(createApiKey, { body })
      form.reset()
      setMade(data.key)
      await queries.invalidateQueries({ queryKey: keysQuery.queryKey })
    }),
  )
  return (
    <section class="card stack" aria-labelledby="new-key">
      <h2 id="new-key">{t.add}</h2>
      <form class="stack" onSubmit={onSubmit}>
        <Field label={t.name} problem={problem} name="name" autocomplete="off" maxLength={100} required />
        <Choice
          label={t.access}
          options={accesses.map((value) => ({ value, label: t[value], hint: t[`${value}Why`] }))}
          value={access}
          onChange={setAccess}
        />
        <Choice
          label={t.end}
          isInRow
          options={ends.map((value) => ({ value, label: t[value] }))}
          value={end}
          onChange={setEnd}
        />
        <div>
          <Button kind="primary" icon="key-round" type="submit" isBusy={isBusy}>
            {t.make}
          </Button>
        </div>
      </form>
      {dialog}
      {made !== undefined && <MadeKey apiKey={made} onClose={() => setMade(undefined)} />}
    </section>
  )
}

function limitsOf(access: (typeof accesses)[number], end: (typeof ends)[number]) {
  return {
    ...(access === 'full' ? {} : { scope: access }),
    ...(end === 'never' ? {} : { expiresAt: Math.floor(Date.now() / 1000) + Number(end) * daySecs }),
  }
}

function MadeKey({ apiKey, onClose }: { readonly apiKey: string; readonly onClose: () => void }) {
  const t = useTexts(keysTexts)
  const [told, setTold] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(apiKey)
      setTold(t.copied)
    } catch {
      setTold(t.notCopied)
    }
  }
  return (
    <Dialog title={t.shown}>
      <div class="stack">
        <p>{t.shownWhy}</p>
        <code class={styles.key}>{apiKey}</code>
        <div class="row">
          <Button icon="copy" onClick={() => void copy()}>
            {t.copy}
          </Button>
          <Button kind="primary" onClick={onClose}>
            {t.done}
          </Button>
        </div>
        <p role="status">{told}</p>
      </div>
    </Dialog>
  )
}
