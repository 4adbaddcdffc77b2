"""Examination papers that tests write: PDF pages of two columns, by reportlab."""

from collections.abc import Sequence
from pathlib import Path

from tests.lazy import lazy_module

pillow, canvas = lazy_module("PIL.Image"), lazy_module("reportlab.pdfgen.canvas")
pagesizes = lazy_module("reportlab.lib.pagesizes")


IMAGE = "[image]"
Columns = Sequence[Sequence[str]]


def write_paper(
    path: Path, pages: Sequence[Columns], *, lefts: Sequence[float] = (50, 320), password: str = "",
    title: str = "", header: str = "EXAMEN DE PRUEBA 2024",
) -> Path:  # fmt: skip
    """Write pages of columns of lines; header and page number repeat. Lines are drawn column by column."""
    encrypt = {"encrypt": password} if password else {}
    page_of = canvas.Canvas(str(path), pagesize=pagesizes.A4, invariant=1, **encrypt)
    width, height = pagesizes.A4
    for number, columns in enumerate(pages, 1):
        page_of.setFont("Helvetica", 9)
        page_of.drawString(60, height - 40, header)
        page_of.drawCentredString(width / 2, 30, f"Pagina {number} de {len(pages)}")
        if title:
            page_of.drawCentredString(width / 2, height - 66, title)
        for left, lines in zip(lefts, columns, strict=False):
            y = height - 90
            for line in lines:
                if line == IMAGE:
                    page_of.drawInlineImage(pillow.new("RGB", (60, 50), "gray"), left, y - 50, 60, 50)
                    y -= 52
                else:
                    page_of.drawString(left, y, line)
                y -= 12
        page_of.showPage()
    page_of.save()
    return path


def write_scan(path: Path) -> Path:
    """A page that is an image alone."""
    page_of = canvas.Canvas(str(path), pagesize=pagesizes.A4, invariant=1)
    page_of.drawInlineImage(pillow.new("RGB", (200, 200), "gray"), 100, 100, 200, 200)
    page_of.showPage()
    page_of.save()
    return path


SPANISH = [
    [
        [
            "1. Paciente de 54 años con dolor torácico de dos horas y",
            "elevación del segmento ST en V1 a V4. ¿Cuál es el",
            "diagnóstico más probable?",
            "1. Infarto agudo de miocardio anterior.",
            "2. Neumonía neumocócica.",
            "3. Pericarditis aguda.",
            "4. Asma bronquial.",
            "2. Una paciente con hipotiroidismo toma 62,5 mcg de levo-",
            "tiroxina. ¿Qué hormona se mide para ajustar la dosis?",
            "1. Tirotropina (TSH).",
            "2. Cortisol.",
        ],
        [
            "3. Prolactina.",
            "4. Insulina.",
            "3. Sobre la diabetes, señale la respuesta INCORRECTA:",
            "1. La metformina se elimina por el riñón.",
            "2. La insulina baja la glucemia.",
            "3. La diabetes tipo 1 no necesita insulina.",
            "4. La HbA1c refleja unos tres meses.",
            "4. Observe la imagen. ¿Qué muestra?",
            IMAGE,
            "1. Una fractura.",
            "2. Un neumotórax.",
            "3. Un derrame.",
            "4. Nada.",
            "5. Un niño de 3 años no respira y no tiene pulso tras la",
        ],
    ],
    [
        [
            "primera evaluación. ¿Cuál es la relación entre compresiones",
            "y ventilaciones con dos reanimadores?",
            "1. 15:2",
            "2. 30:2",
            "3. 5:1",
            "4. 3:1",
            "6. ¿Qué vitamina falta en el escorbuto?",
            "1. Vitamina C.",
            "2. Vitamina D.",
            "3. Vitamina K.",
            "4. Vitamina A.",
        ],
        [
            "7. ¿Cuál de estos fármacos es un antagonista de la vitamina K?",
            "1. Warfarina.",
            "2. Heparina.",
            "3. Aspirina.",
            "4. Clopidogrel.",
            "8. Pregunta a la que le faltan opciones:",
            "1. Una.",
            "2. Otra.",
            "9. ¿Qué electrolito sube en la insuficiencia renal avanzada?",
            "1. Potasio.",
            "2. Sodio.",
            "3. Cloro.",
            "4. Litio.",
        ],
    ],
]
"""Nine questions: 2 across columns with a hyphen, 5 across pages, 4 on an image, 8 without its options."""
KEY = "number,answer\n1,1\n2,1\n3,3\n4,2\n5,1\n6,1\n7,\n8,1\n9,1\n"
"""7 is annulled."""
ENGLISH = {
    1: (
        "A 54-year-old patient has had chest pain for two hours, with ST elevation in V1 to V4. What is the "
        "most likely diagnosis?",
        [
            "Acute anterior myocardial infarction.",
            "Pneumococcal pneumonia.",
            "Acute pericarditis.",
            "Asthma.",
        ],
    ),
    2: (
        "A patient with hypothyroidism takes 62.5 mcg of levothyroxine. Which hormone is measured to adjust "
        "the dose?",
        ["Thyrotropin (TSH).", "Cortisol.", "Prolactin.", "Insulin."],
    ),
    3: (
        "About diabetes, indicate the INCORRECT answer:",
        [
            "Metformin is cleared by the kidney.",
            "Insulin lowers blood glucose.",
            "Type 1 diabetes needs no insulin.",
            "HbA1c reflects about three months.",
        ],
    ),
    5: (
        "A 3-year-old child is not breathing and has no pulse after the first assessment. What is the ratio "
        "of compressions to ventilations with two rescuers?",
        ["15:2", "30:2", "5:1", "3:1"],
    ),
    6: ("Which vitamin is lacking in scurvy?", ["Vitamin C.", "Vitamin D.", "Vitamin K.", "Vitamin A."]),
    9: (
        "Which electrolyte rises in advanced renal failure?",
        ["Potassium.", "Sodium.", "Chloride.", "Lithium."],
    ),
}
"""The questions as the fake model translates them."""
