"""Answers with splits written for these tests, right and wrong ones. Not for clinical use."""

# ruff: noqa: E501 - sentences stand on one line

from typing import NamedTuple

from vivavoce.facts.cleaning import clean
from vivavoce.facts.fact import Answer


class Case(NamedTuple):
    """An answer, units that a good splitter makes of it, and units that are wrong, each with its fate.

    `missed` are wrong units that the rules take for right ones: what is known not to be noticed.
    """

    question: str
    answer: str
    right: tuple[str, ...]
    wrong: tuple[tuple[str, str], ...] = ()

    missed: tuple[str, ...] = ()

    def as_answer(self) -> Answer:
        """The answer as a splitter gets it."""
        return Answer("i", "a", 1, self.question, clean(self.question, self.answer))


CASES = {
    "lymphangioma": Case(  # the paper's Figure 9, retold
        "How often is cystic lymphangioma (CL) seen in live births, and where does it occur most?",
        "Cystic lymphangioma (CL) is estimated to occur in around 1 in 20,000 to 1 in 50,000 live births. It is "
        "found most often in the neck and axilla (armpit), followed by the mediastinum (chest) and the "
        "retroperitoneum (abdomen).",
        (
            "Cystic lymphangioma (CL) is estimated to occur in around 1 in 20,000 live births.",
            "The incidence of cystic lymphangioma (CL) is also estimated to be around 1 in 50,000 live births.",
            "The most common location for CL to occur is the neck.",
            "The second most common location for CL to occur is the axilla (armpit).",
            "CL also commonly occurs in the mediastinum (chest).",
            "CL also occurs in the retroperitoneum (abdomen).",
        ),
        (
            ("CL occurs in around 1 in 2,000 live births.", "changed"),
            ("CL does not occur in the neck.", "changed"),
            ("Surgical excision cures most children completely.", "foreign"),
        ),
    ),
    "metformin": Case(
        "How does metformin work, and what is its usual dose in type 2 diabetes?",
        "Metformin lowers glucose production in the liver and improves insulin sensitivity. It does not cause "
        "hypoglycaemia when used alone. The starting dose is 500 mg once or twice daily with meals; the maximum "
        "is 2,550 mg per day. It is contraindicated in patients with an eGFR below 30 mL/min/1.73 m².",
        (
            "Metformin lowers glucose production in the liver.",
            "Metformin improves insulin sensitivity.",
            "Metformin does not cause hypoglycaemia when it is used alone.",
            "The starting dose of metformin is 500 mg once or twice daily with meals.",
            "The maximum dose of metformin is 2,550 mg per day.",
            "Metformin is contraindicated in patients with an eGFR below 30 mL/min/1.73 m².",
            "Metformin is used in type 2 diabetes.",
        ),
        (
            ("Metformin causes hypoglycaemia when used alone.", "changed"),
            ("The starting dose of metformin is 850 mg.", "changed"),
            ("The maximum dose of metformin is 2,550 g per day.", "changed"),
            ("The maximum dose of metformin is 2,550 mg per week.", "changed"),
            ("Metformin is used in patients with an eGFR below 30 mL/min/1.73 m².", "changed"),
            ("Rosuvastatin blocks cholesterol synthesis.", "foreign"),
        ),
    ),
    "conditions": Case(
        "How is hyperkalaemia treated?",
        "If the potassium is above 6.5 mmol/L, give calcium gluconate 10 mL of 10% intravenously. Stop "
        "spironolactone unless the patient has severe heart failure. In patients with renal failure, dialysis "
        "may be needed. Insulin shifts potassium into cells.",
        (
            "If the potassium is above 6.5 mmol/L, calcium gluconate 10 mL of 10% should be given intravenously.",
            "Spironolactone should be stopped unless the patient has severe heart failure.",
            "Spironolactone should be stopped if the patient does not have severe heart failure.",
            "In patients with renal failure, dialysis may be needed.",
            "Dialysis may be needed in hyperkalaemia with renal failure.",
            "Insulin shifts potassium into cells.",
        ),
        (
            ("Calcium gluconate 10 mL of 10% should be given intravenously.", "changed"),
            ("Spironolactone should be stopped.", "changed"),
            ("Dialysis may be needed.", "changed"),
            ("Insulin does not shift potassium into cells.", "changed"),
            ("Calcium gluconate should be given if the potassium is above 5.5 mmol/L.", "changed"),
        ),
    ),
    "anticoagulants": Case(
        "Which drugs interact with warfarin?",
        "Clarithromycin and metronidazole raise the INR in people taking warfarin. Rifampicin lowers it. "
        "Paracetamol up to 2 g per day is safe, but aspirin should be avoided because it increases bleeding "
        "without changing the INR.",
        (
            "Clarithromycin raises the INR in people taking warfarin.",
            "Metronidazole raises the INR in people taking warfarin.",
            "Rifampicin lowers the INR in people taking warfarin.",
            "Paracetamol up to 2 g per day is safe with warfarin.",
            "Aspirin should be avoided with warfarin.",
            "Aspirin increases bleeding with warfarin.",
            "Aspirin does not change the INR.",
        ),
        (
            ("Paracetamol up to 4 g per day is safe with warfarin.", "changed"),
            ("Aspirin changes the INR.", "changed"),
            ("Rifampicin does not lower the INR.", "changed"),
            ("Apixaban needs no monitoring of coagulation.", "foreign"),
        ),
    ),
    "kawasaki": Case(
        "Describe Kawasaki disease.",
        "Kawasaki disease is an acute vasculitis of childhood that mostly affects children under 5 years. Fever "
        "lasts at least five days. Treatment is intravenous immunoglobulin 2 g/kg over 10–12 hours plus aspirin; "
        "without treatment, 15-25% of children develop coronary artery aneurysms.",
        (
            "Kawasaki disease is an acute vasculitis of childhood.",
            "Kawasaki disease mostly affects children under 5 years.",
            "In Kawasaki disease, fever lasts at least 5 days.",
            "Kawasaki disease is treated with intravenous immunoglobulin 2 g/kg over 10-12 hours.",
            "Kawasaki disease is treated with aspirin.",
            "Without treatment, 15 to 25 % of children with Kawasaki disease develop coronary artery aneurysms.",
        ),
        (
            ("In Kawasaki disease, fever lasts at least five weeks.", "changed"),
            ("Kawasaki disease is treated with intravenous immunoglobulin 2 mg/kg.", "changed"),
            ("15-25% of children with Kawasaki disease develop coronary artery aneurysms.", "changed"),
            ("Kawasaki disease is not a vasculitis.", "changed"),
            ("50% of children with Kawasaki disease develop coronary artery aneurysms without treatment.", "changed"),
        ),
    ),
    "list": Case(
        "What are the side effects of lisinopril?",
        "Side effects of lisinopril include:\n1. Dry cough (about 10 percent)\n2. Hyperkalaemia\n3. Angioedema, "
        "which is rare but life-threatening\nLisinopril must not be taken during pregnancy.",
        (
            "Dry cough is a side effect of lisinopril.",
            "Dry cough occurs in about 10% of patients who take lisinopril.",
            "Hyperkalaemia is a side effect of lisinopril.",
            "Angioedema is a rare side effect of lisinopril.",
            "Angioedema due to lisinopril is life-threatening.",
            "Lisinopril must not be taken during pregnancy.",
        ),
        (
            ("Lisinopril can be taken during pregnancy.", "changed"),
            ("Side effects of lisinopril include:", "no_claim"),
            ("Dry cough occurs in about 10 mg of patients.", "changed"),
            ("Losartan blocks the angiotensin receptor.", "foreign"),
        ),
    ),
    "coordination": Case(
        "Is aspirin given to children with a viral infection?",
        "Aspirin is not given to children with influenza because of Reye syndrome, but ibuprofen may be used. "
        "Not only the liver but also the brain is affected. Fever is absent or mild.",
        (
            "Aspirin is not given to children with influenza.",
            "Aspirin should not be used in children with influenza because of Reye syndrome.",
            "Ibuprofen may be used in children with influenza.",
            "Reye syndrome affects the liver.",
            "Reye syndrome affects the brain.",
            "Fever is absent or mild in Reye syndrome.",
        ),
        (
            ("Aspirin is given to children with influenza.", "changed"),
        ),
        missed=(
            "Ibuprofen may not be used in children with influenza.",
            "Reye syndrome does not affect the brain.",
        ),
    ),
    "decimals": Case(
        "What are the target values?",
        "The target INR is 2.0–3.0. Potassium should be 3,5 to 5,0 mmol/L. The core temperature was −5 °C below "
        "the target of 37 °C. HbA1c should be ≤ 7 %. The dose is 10 or 20 mg b.i.d., about 20 000 units in all.",
        (
            "The target INR is 2.0 to 3.0.",
            "Potassium should be at least 3.5 mmol/L.",
            "Potassium should be at most 5,0 mmol/L.",
            "The core temperature was -5 °C below the target.",
            "The target core temperature is 37°C.",
            "HbA1c should be ≤7%.",
            "The dose is 10 mg or 20 mg b.i.d.",
            "A possible dose is 10 mg b.i.d.",
            "The dose is about 20,000 units in all.",
        ),
        (
            ("The core temperature was 5 °C below the target.", "changed"),
            ("Potassium should be at least 35 mmol/L.", "changed"),
            ("HbA1c should be ≥7%.", "changed"),
            ("The target INR is 20 to 30.", "changed"),
            ("The dose is 10 µg b.i.d.", "changed"),
            ("The dose is about 20 units in all.", "changed"),
        ),
    ),
    "yes": Case(
        "Is smallpox eradicated worldwide?",
        "Yes. The last natural case was in Somalia in 1977.",
        (
            "Smallpox is eradicated worldwide.",
            "The last natural case of smallpox was in Somalia.",
            "The last natural case of smallpox was in 1977.",
        ),
        (
            ("The last natural case of smallpox was in 1987.", "changed"),
            ("Measles vaccination prevents encephalitis.", "foreign"),
        ),
    ),
    "vignette": Case(
        "A 58-year-old man with a creatinine of 2.5 mg/dL has a fever for 3 days. What should be given?",
        "He should receive ceftriaxone 2 g IV every 24 hours. No dose adjustment is needed for his renal "
        "function. Gentamicin is best avoided.",
        (
            "The 58-year-old man should receive ceftriaxone 2 g IV every 24 hours.",
            "No dose adjustment of ceftriaxone is needed for the patient's renal function.",
            "Ceftriaxone does not need a dose adjustment for renal function.",
            "Gentamicin is best avoided in this patient.",
        ),
        (
            ("The patient has a creatinine of 2.5 mg/dL.", "foreign"),
            ("The 85-year-old man should receive ceftriaxone 2 g IV every 24 hours.", "changed"),
            ("A dose adjustment of ceftriaxone is needed for renal function.", "changed"),
            ("The man should receive ceftriaxone 2 g IV every 12 hours.", "changed"),
            ("The man has had a fever for 3 days.", "foreign"),
        ),
    ),
    "imperatives": Case(
        "How should alendronate be taken?",
        "Take it in the morning with a full glass of water. Do not lie down for 30 minutes afterwards. See a "
        "doctor. Seek emergency care if swallowing becomes painful.",
        (
            "Alendronate should be taken in the morning.",
            "Alendronate should be taken with a full glass of water.",
            "Patients should not lie down for 30 minutes after taking alendronate.",
            "Patients who take alendronate should seek emergency care if swallowing becomes painful.",
        ),
        (
            ("Patients should lie down for 30 minutes after taking alendronate.", "changed"),
            ("See a doctor.", "no_claim"),
            ("You should always consult your doctor before starting any new medication.", "no_claim"),
            ("Patients should not lie down for 30 hours after taking alendronate.", "changed"),
        ),
    ),
    "narrative": Case(
        "What helps against migraine?",
        "Hello! I have had migraine for years. In my experience rest helps. Sumatriptan 50 mg relieves the attack "
        "in two hours. ## Prevention\nPropranolol prevents attacks. Hope this helps!",
        (
            "Sumatriptan 50 mg relieves a migraine attack in 2 hours.",
            "Propranolol prevents migraine attacks.",
        ),
        (
            ("Hello!", "no_claim"),
            ("I have had migraine for years.", "no_claim"),
            ("In my experience rest helps.", "no_claim"),
            ("## Prevention", "no_claim"),
            ("Hope this helps!", "no_claim"),
            ("What helps against migraine?", "no_claim"),
            ("Sumatriptan 100 mg relieves the attack.", "changed"),
        ),
    ),
    "genetics": Case(
        "What is the inheritance of cystic fibrosis?",
        "Cystic fibrosis is inherited in an autosomal recessive manner: each child of two carriers has a 1 in 4 "
        "risk. The most frequent mutation is F508del, a loss of phenylalanine at position 508 of CFTR on "
        "chromosome 7. Carriers have no symptoms.",
        (
            "Cystic fibrosis is inherited in an autosomal recessive manner.",
            "Each child of two carriers of cystic fibrosis has a 1 in 4 risk of the disease.",
            "The most frequent mutation in cystic fibrosis is F508del.",
            "F508del is a loss of phenylalanine at position 508 of CFTR.",
            "CFTR is on chromosome 7.",
            "Carriers of cystic fibrosis have no symptoms.",
            "Carriers of cystic fibrosis are without symptoms.",
        ),
        (
            ("Carriers of cystic fibrosis have symptoms.", "changed"),
            ("CFTR is on chromosome 17.", "changed"),
            ("Each child of two carriers has a 1 in 2 risk.", "changed"),
            ("Huntington chorea shows anticipation across generations.", "foreign"),
        ),
    ),
    "microbiology": Case(
        "Which organisms cause pneumonia?",
        "Streptococcus pneumoniae is the leading cause of community-acquired pneumonia in adults. Mycoplasma lacks "
        "a cell wall, so beta-lactams are ineffective against it. Gram-negative rods are frequent only in hospital. "
        "Legionella can be ruled out by neither history nor examination.",
        (
            "Streptococcus pneumoniae is the leading cause of community-acquired pneumonia in adults.",
            "Mycoplasma has no cell wall.",
            "Beta-lactams are not effective against Mycoplasma.",
            "Gram-negative rods are frequent causes of pneumonia only in hospital.",
            "Legionella cannot be ruled out by history.",
            "Legionella cannot be ruled out by examination.",
        ),
        (
            ("Mycoplasma has a cell wall.", "changed"),
            ("Streptococcus pneumoniae is not the leading cause of community-acquired pneumonia.", "changed"),
            ("Amphotericin treats invasive candidiasis.", "foreign"),
        ),
    ),
    "study": Case(
        "What did the study find?",
        "Of 136,106 births, 134,594 (98.9%) had complete records. The relative risk was 0.75 (95% CI 0.60-0.94; "
        "p = 0.01). Half of the women were over 30 years of age. There was no difference in mortality between the "
        "two groups, while readmissions fell by a third.",
        (
            "Of 136,106 births, 134,594 had complete records.",
            "Complete records were available for 98.9% of births.",
            "The relative risk was 0.75.",
            "The 95% confidence interval (CI) of the relative risk was 0.60 to 0.94.",
            "The p-value of the relative risk was 0.01.",
            "Half of the women were over 30 years of age.",
            "There was no difference in mortality between the two groups.",
            "Mortality did not differ between the two groups.",
            "Readmissions fell by a third.",
        ),
        (
            ("Of 136,106 births, 134,594 (89.9%) had complete records.", "changed"),
            ("There was a difference in mortality between the two groups.", "changed"),
            ("The relative risk was 0.57.", "changed"),
            ("The 95% confidence interval of the relative risk was 0.60-0.49.", "changed"),
            ("Readmissions did not fall.", "changed"),
        ),
    ),
    "german": Case(
        "Wie wird eine Pneumonie behandelt?",
        "Bei leichter Pneumonie wird Amoxicillin 1 g dreimal täglich gegeben. Die Therapie dauert 5 bis 7 Tage.",
        (
            "Bei leichter Pneumonie wird Amoxicillin 1 g dreimal täglich gegeben.",
            "Die Therapie der Pneumonie dauert 5 bis 7 Tage.",
        ),
        (("Die Therapie der Pneumonie dauert 10 Tage.", "changed"),),
    ),
}  # fmt: skip

LATER = {
    "ketoacidosis": Case(
        "What is diabetic ketoacidosis and how is it treated?",
        "Diabetic ketoacidosis (DKA) is an acute complication of type 1 diabetes caused by insulin deficiency. Typical findings are a glucose above 11 mmol/L, ketones of 3 mmol/L or more and a pH below 7.3. Fluids come first: 1 L of 0.9% saline in the first hour. Insulin is infused at 0.1 units/kg/h, but it must not be started before potassium is known to be above 3.3 mmol/L. Bicarbonate is not routinely recommended unless the pH is below 6.9.",
        (
            "Diabetic ketoacidosis (DKA) is an acute complication of type 1 diabetes.",
            "DKA is caused by insulin deficiency.",
            "A glucose above 11 mmol/L is a typical finding of DKA.",
            "Ketones of 3 mmol/L or more are typical of DKA.",
            "A pH below 7.3 is typical of DKA.",
            "Fluids are the first treatment of DKA.",
            "1 L of 0.9% saline is given in the first hour of DKA treatment.",
            "In DKA, insulin is infused at 0.1 units/kg/h.",
            "Insulin must not be started before potassium is known to be above 3.3 mmol/L.",
            "Bicarbonate is not routinely recommended in DKA unless the pH is below 6.9.",
        ),
        (
            ("Insulin is infused at 1 units/kg/h.", "changed"),
            ("Bicarbonate is routinely recommended in DKA.", "changed"),
            ("Bicarbonate is not routinely recommended in DKA.", "changed"),
            ("Glucagon is secreted by alpha cells.", "foreign"),
        ),
        missed=(
            "Insulin can be started before potassium is known to be above 3.3 mmol/L.",
            "1 L of 0.9% saline is given in the first day.",
            "DKA is caused by insulin excess.",
        ),
    ),
    "beta blockers": Case(
        "Explain the mechanism of action of beta blockers.",
        "Beta blockers competitively antagonise catecholamines at beta-adrenergic receptors. By blocking beta-1 receptors they reduce heart rate, contractility and renin release. Non-selective agents such as propranolol also block beta-2 receptors and can therefore cause bronchospasm in patients with asthma. They do not cure heart failure, although bisoprolol, carvedilol and metoprolol reduce mortality.",
        (
            "Beta blockers competitively antagonise catecholamines at beta-adrenergic receptors.",
            "Beta blockers reduce heart rate by blocking beta-1 receptors.",
            "Beta blockers reduce contractility.",
            "Beta blockers reduce renin release.",
            "Propranolol is a non-selective beta blocker.",
            "Non-selective beta blockers also block beta-2 receptors.",
            "Non-selective beta blockers can cause bronchospasm in patients with asthma.",
            "Beta blockers do not cure heart failure.",
            "Bisoprolol reduces mortality in heart failure.",
            "Carvedilol reduces mortality in heart failure.",
            "Metoprolol reduces mortality in heart failure.",
        ),
        (
            ("Beta blockers cure heart failure.", "changed"),
            ("Bisoprolol does not reduce mortality in heart failure.", "changed"),
            ("Beta blockers block beta-3 receptors.", "changed"),
            ("Amlodipine dilates peripheral arteries.", "foreign"),
        ),
        missed=("Propranolol can cause bronchospasm.", "Beta blockers increase renin release."),
    ),
    "measles": Case(
        "When should children be vaccinated against measles?",
        "The first dose of the MMR vaccine is given at 12–15 months and the second dose at 4 to 6 years. Two doses are about 97 percent effective. If a child is exposed, vaccination within 72 hours may prevent disease. Pregnant women should never receive MMR. There is no link between MMR and autism.",
        (
            "The first dose of the MMR vaccine is given at 12-15 months.",
            "The second dose of the MMR vaccine is given at 4 to 6 years.",
            "2 doses of MMR are about 97% effective.",
            "If a child is exposed to measles, vaccination within 72 hours may prevent disease.",
            "Vaccination within 72 hours of exposure may prevent measles.",
            "Pregnant women should not receive the MMR vaccine.",
            "There is no link between the MMR vaccine and autism.",
            "MMR is not linked to autism.",
        ),
        (
            ("The first dose of MMR is given at 12-15 years.", "changed"),
            ("The second dose is given at 5 years.", "changed"),
            ("Two doses are about 79 percent effective.", "changed"),
            ("There is a link between MMR and autism.", "changed"),
            ("Pregnant women should receive MMR.", "changed"),
            ("Vaccination within 72 days may prevent disease.", "changed"),
        ),
        missed=(),
    ),
    "kidney": Case(
        "What are the stages of chronic kidney disease?",
        "CKD is staged by GFR:\n- Stage 1: GFR ≥90 mL/min with kidney damage\n- Stage 3a: GFR 45-59 mL/min\n- Stage 5: GFR <15 mL/min\nACE inhibitors slow progression in people with albuminuria. NSAIDs should be avoided. Please see a nephrologist.",
        (
            "CKD is staged by GFR.",
            "Stage 1 CKD is a GFR ≥90 mL/min with kidney damage.",
            "Stage 3a CKD is a GFR of 45 to 59 mL/min.",
            "Stage 5 CKD is a GFR <15 mL/min.",
            "ACE inhibitors slow the progression of CKD in people with albuminuria.",
            "NSAIDs should be avoided in CKD.",
        ),
        (
            ("Stage 5 CKD is a GFR >15 mL/min.", "changed"),
            ("Stage 3a CKD is a GFR of 30-59 mL/min.", "changed"),
            ("ACE inhibitors slow progression of CKD.", "changed"),
            ("ACE inhibitors do not slow progression in people with albuminuria.", "changed"),
            ("CKD is staged by GFR:", "no_claim"),
        ),
        missed=("NSAIDs should be given in CKD.",),
    ),
    "tuberculosis": Case(
        "How does tuberculosis spread and how is latent infection managed?",
        "Tuberculosis spreads by airborne droplets when a person with pulmonary disease coughs. Latent infection is not contagious and causes no symptoms. Isoniazid 300 mg daily for nine months, or rifampicin 600 mg daily for 4 months, is used. Pyridoxine is added in pregnancy, malnutrition or alcoholism because isoniazid can cause neuropathy. Roughly a quarter of the world's population is infected.",
        (
            "Tuberculosis spreads by airborne droplets.",
            "Tuberculosis spreads when a person with pulmonary disease coughs.",
            "Latent tuberculosis infection is not contagious.",
            "Latent tuberculosis infection causes no symptoms.",
            "Isoniazid 300 mg daily for nine months is used for latent tuberculosis.",
            "Rifampicin 600 mg daily for 4 months is used for latent tuberculosis.",
            "Pyridoxine is added to isoniazid in pregnancy.",
            "Pyridoxine is added in malnutrition.",
            "Pyridoxine is added in alcoholism.",
            "Isoniazid can cause neuropathy.",
            "About a quarter of the world's population is infected with tuberculosis.",
        ),
        (
            ("Latent tuberculosis infection is contagious.", "changed"),
            ("Isoniazid 300 mg weekly for nine months is used.", "changed"),
            ("Isoniazid does not cause neuropathy.", "changed"),
            ("Latent infection causes symptoms.", "changed"),
            ("Isoniazid 30 mg daily for nine months is used.", "changed"),
        ),
        missed=("Rifampicin 600 mg daily for 9 months is used.",),
    ),
}
"""Written after the rules were made, and changed for nothing but two rules since."""
