import { type Look, schemes, settingsOfLook, textSizes } from '#lib/look.ts'
import { look } from '#platform/look.ts'
import { Choice } from '#ui/choice.tsx'
import { Switch } from '#ui/switch.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { Keys } from './keys.tsx'
import { LanguageChoice } from './language-choice.tsx'
import { lookTexts } from './look-texts.ts'
import { Section } from './section.tsx'
import { settingsTexts } from './settings-texts.ts'
import { useChange } from './use-change.ts'

/** How the app looks and which language it speaks; each change is seen at once. */
export function LookScreen() {
  const titles = useTexts(settingsTexts)
  return (
    <Section title={titles.look}>
      <Colours />
      <div class="card">
        <LanguageChoice />
      </div>
      <Keys />
    </Section>
  )
}

function Colours() {
  const t = useTexts(lookTexts)
  const present = useStore(look)
  const change = useChange()
  const set = (changed: Partial<Look>) => change(settingsOfLook({ ...present, ...changed }))
  const sizes = textSizes.map((size) => ({ value: String(size), label: t[`size${size}`] }))
  return (
    <div class="card stack">
      <Choice
        label={t.scheme}
        isInRow
        options={schemes.map((value) => ({ value, label: t[value] }))}
        value={present.scheme}
        onChange={(scheme) => set({ scheme })}
      />
      <Switch
        label={t.contrast}
        hint={t.contrastWhy}
        isOn={present.hasMoreContrast}
        onChange={(hasMoreContrast) => set({ hasMoreContrast })}
      />
      <Switch
        label={t.still}
        hint={t.stillWhy}
        isOn={present.isStill}
        onChange={(isStill) => set({ isStill })}
      />
      <Choice
        label={t.textSize}
        isInRow
        options={sizes}
        value={String(present.textSize)}
        onChange={(size) => set({ textSize: Number(size) as Look['textSize'] })}
      />
    </div>
  )
}
