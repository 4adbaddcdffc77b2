"""The healthcare suite in small: every data set of `examples/suite.yml` in its layout, a few rows each.

All of it is made up for a rehearsal: no row is of the real data sets, and none is for clinical use.

Usage: python examples/small_suite.py FOLDER, then viva run examples/suite.yml
"""

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

MEDMCQA = [
    ("Biochemistry", "Which vitamin is needed to make collagen?",
     ("Vitamin A", "Vitamin B12", "Vitamin C", "Vitamin K"), 3),
    ("Pharmacology", "Which of these drugs is a loop diuretic?",
     ("Spironolactone", "Furosemide", "Hydrochlorothiazide", "Amiloride"), 2),
    ("Anatomy", "Which bone forms the hip joint with the pelvis?",
     ("Femur", "Tibia", "Fibula", "Patella"), 1),
]  # fmt: skip
"""Subject, question, options, and the number of the right one."""

MEDQA = [
    ("A 58-year-old man has crushing chest pain, and his ECG shows ST elevation in leads II, III and aVF. "
     "Which artery is most likely occluded?",
     ("Right coronary artery", "Left anterior descending artery", "Left main coronary artery", "Aorta"), 0),
    ("A 24-year-old woman has swallowed 20 g of paracetamol three hours ago. Which antidote does she need?",
     ("Naloxone", "Flumazenil", "Atropine", "Acetylcysteine"), 3),
    ("A 6-week-old boy vomits forcefully after each feed, without bile, and is hungry again at once. What is "
     "the most likely diagnosis?",
     ("Duodenal atresia", "Pyloric stenosis", "Intussusception", "Hirschsprung disease"), 1),
]  # fmt: skip
"""Question, options, and the index of the right one."""

PUBMEDQA = {
    "90000001": (
        "Does a text message raise attendance at a diabetes clinic?",
        ["Made up. 2,000 patients drew lots for a text message or none.",
         "Attended: 84% with a message, 76% without (95% CI of the difference 4 to 12 points)."],
        "yes",
        "A text message raised attendance by 8 percentage points.",
    ),
    "90000002": (
        "Does a poster on hand hygiene lower the rate of catheter infections?",
        ["Made up. 40 wards drew lots for a poster or none.",
         "Infections per 1,000 catheter days: 3.1 with the poster, 3.0 without (95% CI -0.6 to 0.8)."],
        "no",
        "The poster did not lower the rate.",
    ),
    "90000003": (
        "Does early walking shorten the stay after hip surgery?",
        ["Made up. 60 patients drew lots for walking on the first or on the second day.",
         "Days in hospital: 6.0 and 6.9 (95% CI of the difference -2.1 to 0.3)."],
        "maybe",
        "The stay was 0.9 days shorter, but the study is too small to tell.",
    ),
}  # fmt: skip
"""Question, abstract, decision and conclusion by PMID."""

MMLU = {
    "anatomy": ("Which muscle does most of the work of breathing in?",
                ("Diaphragm", "Trapezius", "Rectus abdominis", "Psoas major"), "A"),
    "clinical_knowledge": ("Where is the pulse of the radial artery felt?",
                           ("In the groin", "At the wrist", "Behind the knee", "At the ankle"), "B"),
    "college_medicine": ("Which protein carries most of the oxygen in blood?",
                         ("Albumin", "Fibrinogen", "Hemoglobin", "Myoglobin"), "C"),
    "medical_genetics": ("How many chromosomes does a human somatic cell normally have?",
                         ("23", "44", "48", "46"), "D"),
    "professional_medicine": ("A low value of which protein in serum shows a lack of iron?",
                              ("Albumin", "Ferritin", "Troponin", "Amylase"), "B"),
    "college_biology": ("In which organelle do animal cells make most of their ATP?",
                        ("Nucleus", "Ribosome", "Mitochondrion", "Lysosome"), "C"),
}  # fmt: skip

PRESCRIPTION = [
    ("Acid reflux",
     [("Pantoprazole 40 mg", "before breakfast", "14 days"), ("Antacid 10 ml", "at night", "5 days")]),
    ("Hay fever",
     [("Cetirizine 10 mg", "at night", "10 days"), ("Saline nose spray", "twice a day", "10 days")]),
    ("Type 2 diabetes",
     [("Metformin 500 mg", "twice a day", "30 days"), ("Atorvastatin 20 mg", "at night", "30 days")]),
]  # fmt: skip
"""Diagnosis, and name, use and duration of the medicines."""

CONDITIONS = (
    *("Neoplasms", "Digestive system diseases", "Nervous system diseases", "Cardiovascular diseases"),
    "General pathological conditions",
)
MEDICAL_ABSTRACTS = [
    (
        4,
        "Made up. Of 200 patients with heart failure, daily weighing led to fewer admissions.",
    ),
    (3, "Made up. Patients with migraine kept a diary of triggers; sleep was the one they named most often."),
    (
        1,
        "Made up. Screening of 5,000 people found 12 cancers of the colon, 10 of them early.",
    ),
    (2, "Made up. Gastric ulcers healed within eight weeks in 90 of 100 patients who took omeprazole."),
]

MEDICAL_TRANSCRIPTIONS = [
    (" Orthopedic", "Knee pain",
     "MADE UP. The left knee is swollen after a fall. The X-ray shows no fracture."),
    (" Neurology", "Headache",
     "MADE UP. Headache of one side with nausea, worse in bright light. Normal examination."),
    (" Cardiovascular / Pulmonary", "Chest pain",
     "MADE UP. Chest pain on exertion that rest relieves. Treadmill test planned."),
    (" Orthopedic", "Wrist fracture",
     "MADE UP. Fracture of the distal radius, closed reduction, cast for six weeks."),
]  # fmt: skip

BIORED = (
    "Made up. Aspirin raised the rate of gastrointestinal bleeding in 400 patients. Omeprazole lowered it.",
    [
        ("D001241", "ChemicalEntity", "Aspirin"),
        ("D006471", "DiseaseOrPhenotypicFeature", "gastrointestinal bleeding"),
        ("D009853", "ChemicalEntity", "Omeprazole"),
    ],
    [("D001241", "D006471", "Positive_Correlation"), ("D009853", "D006471", "Negative_Correlation")],
)
"""A text, the entities in it, and the relations between them."""

CAREQA = [
    {
        "exam_id": 1, "year": 2022, "category": "medicine", "unique_id": "made-up-1",
        "question": "Which vitamin is lacking in scurvy?",
        "options": ["Vitamin A", "Vitamin B12", "Vitamin C", "Vitamin D"], "cop": 3,
        "es": ("¿Qué vitamina falta en el escorbuto?",
               ["Vitamina A", "Vitamina B12", "Vitamina C", "Vitamina D"]),
        "answer": "Scurvy is due to a lack of vitamin C (ascorbic acid).",
    },
    {
        "exam_id": 2, "year": 2022, "category": "nursing", "unique_id": "made-up-2",
        "question": "Which drug reverses the effect of opioids?",
        "options": ["Naloxone", "Flumazenil", "Atropine", "Protamine"], "cop": 1,
        "es": ("¿Qué fármaco revierte el efecto de los opioides?",
               ["Naloxona", "Flumazenilo", "Atropina", "Protamina"]),
        "answer": "Naloxone reverses the effect of opioids.",
    },
    {
        "exam_id": 3, "year": 2023, "category": "biology", "unique_id": "made-up-3",
        "question": "Which cells of the pancreas make insulin?",
        "options": ["Alpha cells", "Beta cells", "Delta cells", "Acinar cells"], "cop": 2,
        "es": ("¿Qué células del páncreas producen insulina?",
               ["Células alfa", "Células beta", "Células delta", "Células acinares"]),
        "answer": "Insulin is made by the beta cells of the islets of the pancreas.",
    },
    {
        "exam_id": 4, "year": 2023, "category": "medicine", "unique_id": "made-up-4",
        "question": "Which nerve moves the diaphragm?",
        "options": ["Vagus nerve", "Accessory nerve", "Long thoracic nerve", "Phrenic nerve"], "cop": 4,
        "es": ("¿Qué nervio mueve el diafragma?",
               ["Nervio vago", "Nervio accesorio", "Nervio torácico largo", "Nervio frénico"]),
        "answer": "The phrenic nerve, which comes from the spinal segments C3 to C5, moves the diaphragm.",
    },
]  # fmt: skip

MEDDIALOG_RAW = [
    {
        "description": "When can I run again after a sprained ankle?",
        "utterances": [
            "patient: I sprained my ankle last week, and it is still a little swollen. When can I run again?",
            "doctor: A mild sprain takes some weeks. Begin to run when you can walk and hop without pain.",
        ],
    },
    {
        "description": "May I take ibuprofen with a stomach ulcer?",
        "utterances": [
            "patient: I have a stomach ulcer and a headache. May I take ibuprofen?",
            "doctor: No: ibuprofen can make an ulcer bleed. Take paracetamol instead, and ask your doctor.",
            "patient: Thank you.",
        ],
    },
    {
        "description": "Does a child with a cold need an antibiotic?",
        "utterances": [
            "patient: My son is five and has had a runny nose for two days. Does he need an antibiotic?",
            "doctor: No: a cold is due to a virus, and antibiotics do not help against viruses.",
        ],
    },
]

MEDIQA2019 = [
    ("1", "what helps against heartburn at night", [
        ("1_Answer1", 2, 3, "Do not eat in the three hours before you go to bed."),
        ("1_Answer2", 1, 4, "Raise the head of the bed, eat early in the evening, lose weight if you have "
                            "too much of it. Medicines against acid help if that is not enough."),
    ]),
    ("2", "is asthma contagious", [
        ("2_Answer1", 1, 4, "No. Asthma is an inflammation of the airways and cannot be caught."),
        ("2_Answer2", 2, 2, "Asthma is treated with inhalers."),
    ]),
    ("3", "how is anemia found", [
        ("3_Answer1", 3, 2, "Anemia can make you tired."),
        ("3_Answer2", 1, 4, "A complete blood count shows whether hemoglobin is low."),
        ("3_Answer3", 2, 3, "Your doctor takes blood."),
    ]),
]  # fmt: skip
"""Question, and its answers as listed: name, rank and score by people, text."""

MEDTEXT = [
    {
        "Prompt": "A 25-year-old man has pain that began around the navel and moved to the right lower "
        "abdomen. He has a mild fever and no appetite.",
        "Completion": "The likely diagnosis is acute appendicitis. He needs blood tests, imaging and a "
        "surgeon; the usual treatment is to remove the appendix.",
    },
    {
        "Prompt": "A 30-year-old woman who is not pregnant has pain when she passes urine and has to go "
        "often. She has no fever and no pain in the flank.",
        "Completion": "The likely diagnosis is an uncomplicated infection of the bladder. A short course of "
        "an antibiotic such as nitrofurantoin treats it.",
    },
    {
        "Prompt": "A 60-year-old man has sudden severe pain in the base of his big toe, which is red, hot "
        "and swollen.",
        "Completion": "The likely diagnosis is an attack of gout. An anti-inflammatory drug or colchicine "
        "treats the attack, unless his kidneys or other drugs forbid it.",
    },
]

MTS_DIALOG = [
    {
        "ID": "0", "section_header": "ALLERGY", "section_text": "Penicillin, which gives her a rash.",
        "dialogue": "Doctor: Are you allergic to anything?\r\nPatient: Yes, penicillin gives me a rash.",
    },
    {
        "ID": "1", "section_header": "MEDICATIONS", "section_text": "Metformin 500 mg twice a day.",
        "dialogue": "Doctor: Which medicines do you take?\r\nPatient: Metformin, five hundred milligrams, "
        "in the morning and in the evening.",
    },
    {
        "ID": "2", "section_header": "PASTSURGICAL",
        "section_text": "Removal of the gallbladder.\r\nNo other surgery.",
        "dialogue": "Doctor: Have you had surgery?\r\nPatient: Only my gallbladder was taken out.",
    },
]  # fmt: skip

ACI_BENCH = [
    {
        "dataset": "virtassist", "encounter_id": "D9N901",
        "dialogue": "[doctor] what brings you here ?\n[patient] my left knee hurts since i fell on the "
        "stairs .\n[doctor] can you put weight on it ?\n[patient] yes , but it is swollen .",
        "note": "CHIEF COMPLAINT\n\nLeft knee pain.\n\nHISTORY OF PRESENT ILLNESS\n\nPain and swelling of "
        "the left knee after a fall on the stairs. Weight bearing is possible.",
    },
    {
        "dataset": "aci", "encounter_id": "D9N902",
        "dialogue": "[doctor] how is your blood pressure ?\n[patient] at home it is about one thirty over "
        "eighty .\n[doctor] good , we stay with lisinopril ten milligrams .",
        "note": "ASSESSMENT AND PLAN\n\nHypertension, controlled. Continue lisinopril 10 mg.",
    },
]  # fmt: skip

OLAPH = {
    "live_qa": [
        {
            "Question": "Can I catch a cold from cold air?",
            "Free_form_answer": "No. Colds are due to viruses. Cold air may irritate the nose, but alone it "
            "causes no cold.",
            "Must_have": ["Colds are due to viruses."], "Nice_to_have": ["Cold air may irritate the nose."],
        }
    ],
    "medication_qa": [
        {
            "Question": "Which painkiller is safest for the stomach?",
            "Free_form_answer": "Of the common painkillers paracetamol harms the stomach least.",
            "Must_have": ["Paracetamol harms the stomach least."], "Nice_to_have": [],
        }
    ],
    "healthsearch_qa": [
        {
            "Question": "What is a normal resting heart rate?",
            "Free_form_answer": "In adults a resting heart rate of 60 to 100 beats a minute is normal.",
            "Must_have": ["60 to 100 beats a minute are normal in adults."],
            "Nice_to_have": ["Athletes may have fewer."],
        }
    ],
    "kqa_golden": [
        {
            "Question": "Can I catch a cold from cold air?",
            "Free_form_answer": "Viruses cause colds. You catch them from people, not from the air's "
            "temperature.",
            "Must_have": ["Viruses cause colds."], "Nice_to_have": [],
        }
    ],
    "kqa_silver_wogold": [
        {
            "Question": "How long does influenza last?",
            "Free_form_answer": "Most people recover from influenza within one to two weeks.",
            "Must_have": ["Most people recover within two weeks."],
            "Nice_to_have": ["A cough may last longer."],
        }
    ],
}  # fmt: skip

MIMIC_III = [
    {
        "subject_id": 901,
        "hadm_id": 9001,
        "extractive_notes_summ": "CHEST, MADE UP. FINDINGS: The lungs are clear. The heart is of normal "
        "size. IMPRESSION: No acute disease of the chest.     Another note.",
    },
    {
        "subject_id": 902,
        "hadm_id": 9002,
        "extractive_notes_summ": "IMPRESSION: Fracture of the left radius.     FINDINGS: A line through the "
        "distal left radius without displacement. MADE UP.",
    },
    {"subject_id": 903, "hadm_id": 9003, "extractive_notes_summ": "MADE UP. The patient slept well."},
]

MEDDIALOG_QSUMM = [
    {
        "id": 1,
        "src": "Patient: Hello, I have had hay fever since April. I drive a bus. Which tablets do not make "
        "me sleepy?",
        "tgt": "Which tablets against hay fever do not make one sleepy?",
    },
    {
        "id": 2,
        "src": "Patient: I am 45, I smoke, and my cough has not gone away for two months. Should I have an "
        "X-ray?",
        "tgt": "Does a smoker's cough of two months need an X-ray?",
    },
]  # fmt: skip


def main(folder: Path) -> None:
    """Write every data set into a folder of its name."""
    for write in (
        *(medmcqa, medqa, pubmedqa, mmlu, prescription, medical_abstracts, medical_transcriptions),
        *(biored, careqa),
        *(meddialog_raw, mediqa2019, medtext, mts_dialog, aci_bench, olaph, mimic_iii, meddialog_qsumm),
    ):
        write(folder / write.__name__)


def medmcqa(data: Path) -> None:
    """The authors' layout: JSON lines, and keys from 1."""
    rows = []
    for k, (subject, question, options, key) in enumerate(MEDMCQA, 1):
        named = dict(zip(("opa", "opb", "opc", "opd"), options, strict=True))
        rows.append(
            {"id": f"made-up-{k}", "question": question, **named, "cop": key, "subject_name": subject}
        )
    write_lines(data / "dev.json", rows)


def medqa(data: Path) -> None:
    """The hub's layout: JSON lines, and keys from 0."""
    rows = []
    for k, (question, options, key) in enumerate(MEDQA, 1):
        named = {f"ending{n}": text for n, text in enumerate(options)}
        rows.append({"id": f"made-up-{k}", "sent1": question, "sent2": "", **named, "label": key})
    write_lines(data / "test.json", rows)


def pubmedqa(data: Path) -> None:
    """Two JSON objects by PMID: the questions, and the labels of the test."""
    entries = {
        pmid: {"QUESTION": question, "CONTEXTS": contexts, "YEAR": "2020", "final_decision": label,
               "LONG_ANSWER": conclusion}
        for pmid, (question, contexts, label, conclusion) in PUBMEDQA.items()
    }  # fmt: skip
    write_json(data / "data" / "ori_pqal.json", entries)
    labels = {pmid: entry["final_decision"] for pmid, entry in entries.items()}
    write_json(data / "data" / "test_ground_truth.json", labels)


def mmlu(data: Path) -> None:
    """The authors' layout: a csv file without a header for each subject."""
    for subject, (question, options, letter) in MMLU.items():
        path = data / "data" / "test" / f"{subject}_test.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerow([question, *options, letter])


def prescription(data: Path) -> None:
    """One column, which holds the text of a dict."""
    names = ("medicine_name", "medicine_frequency", "course_duration")
    rows = []
    for diagnosis, medicines in PRESCRIPTION:
        details = [dict(zip(names, medicine, strict=True)) for medicine in medicines]
        form = {"procedure": {"chief_complaints_diagnosis": diagnosis}, "medicine_details": details}
        rows.append({"results": repr(form)})
    write_csv(data / "train.csv", rows)


def medical_abstracts(data: Path) -> None:
    """Training and test split, and the names of the labels."""
    labels = [{"condition_label": k, "condition_name": name} for k, name in enumerate(CONDITIONS, 1)]
    rows = [{"condition_label": label, "medical_abstract": text} for label, text in MEDICAL_ABSTRACTS]
    for name, part in (("train", rows[:1]), ("test", rows[1:]), ("labels", labels)):
        write_csv(data / f"medical_tc_{name}.csv", part)


def medical_transcriptions(data: Path) -> None:
    """One csv file, whose first column has no name and whose specialties begin with a blank."""
    rows = [
        {"": k, "description": name, "medical_specialty": specialty, "sample_name": name,
         "transcription": text, "keywords": ""}
        for k, (specialty, name, text) in enumerate(MEDICAL_TRANSCRIPTIONS)
    ]  # fmt: skip
    write_csv(data / "mtsamples.csv", rows)


def biored(data: Path) -> None:
    """The test split as BioC JSON, with one document."""
    text, entities, relations = BIORED
    annotations = [
        {
            "id": str(k),
            "infons": {"identifier": name, "type": kind},
            "text": mention,
            "locations": [{"offset": text.index(mention), "length": len(mention)}],
        }
        for k, (name, kind, mention) in enumerate(entities)
    ]
    listed = [
        {"id": f"R{k}", "infons": {"entity1": head, "entity2": tail, "type": kind, "novel": "Novel"}}
        for k, (head, tail, kind) in enumerate(relations)
    ]
    passage = {"offset": 0, "text": text, "annotations": annotations}
    document = {"id": "90000011", "passages": [passage], "relations": listed}
    write_json(data / "Test.BioC.JSON", {"documents": [document]})


def careqa(data: Path) -> None:
    """CareQA in three files: English, Spanish, and open."""
    shared = ("exam_id", "year", "category", "unique_id")
    english, spanish, opened = [], [], []
    for row in CAREQA:
        ids = {name: row[name] for name in shared}
        for rows, (question, options) in ((english, (row["question"], row["options"])), (spanish, row["es"])):
            named = {f"op{k}": text for k, text in enumerate(options, 1)}
            rows.append({**ids, "question": question, **named, "cop": row["cop"]})
        opened.append({**ids, "question": row["question"], "answer": row["answer"]})
    for name, rows in (("en", english), ("es", spanish), ("en_open", opened)):
        write_json(data / f"CareQA_{name}.json", rows)


def meddialog_raw(data: Path) -> None:
    """The authors' layout: turns that begin with who speaks."""
    write_json(data / "english-train.json", MEDDIALOG_RAW)


def mediqa2019(data: Path) -> None:
    """The XML of the test set with labels."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<MEDIQA2019-Task3-QA-TestSet>"]
    for name, question, answers in MEDIQA2019:
        lines += [f"<Question QID={quoteattr(name)}>", f"<QuestionText>{escape(question)}</QuestionText>"]
        lines.append("<AnswerList>")
        for k, (answer, rank, score, text) in enumerate(answers, 1):
            lines.append(
                f'<Answer AID={quoteattr(answer)} SystemRank="{k}" ReferenceRank="{rank}" '
                f'ReferenceScore="{score}"><AnswerURL>https://example.org</AnswerURL>'
                f"<AnswerText>{escape(text)}</AnswerText></Answer>"
            )
        lines += ["</AnswerList>", "</Question>"]
    write_text(
        data / "MEDIQA2019-Task3-QA-TestSet-wLabels.xml",
        "\n".join([*lines, "</MEDIQA2019-Task3-QA-TestSet>"]),
    )


def medtext(data: Path) -> None:
    """One csv file."""
    write_csv(data / "medtext_2.csv", MEDTEXT)


def mts_dialog(data: Path) -> None:
    """The training and the first test file, whose IDs both begin at 0."""
    write_csv(data / "Main-Dataset" / "MTS-Dialog-TrainingSet.csv", MTS_DIALOG)
    write_csv(data / "Main-Dataset" / "MTS-Dialog-TestSet-1-MEDIQA-Chat-2023.csv", MTS_DIALOG[:0:-1])


def aci_bench(data: Path) -> None:
    """The validation split as csv."""
    write_csv(data / "data" / "challenge_data" / "valid.csv", ACI_BENCH)


def olaph(data: Path) -> None:
    """The five files with statements."""
    for source, rows in OLAPH.items():
        write_lines(data / "MedLFQA" / f"{source}_test_MedLFQA.jsonl", rows)


def mimic_iii(data: Path) -> None:
    """The test split as csv."""
    write_csv(data / "test.csv", MIMIC_III)


def meddialog_qsumm(data: Path) -> None:
    """The test split as JSON lines."""
    write_lines(data / "icliniq" / "test.jsonl", MEDDIALOG_QSUMM)


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """JSON lines."""
    write_text(path, "".join(json.dumps(row) + "\n" for row in rows))


def write_json(path: Path, content: Any) -> None:
    """One JSON value."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1))


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """A csv file with a header and CRLF, as the data sets have it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_text(path: Path, text: str) -> None:
    """A text file, its line ends as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "data"))
