"""Open answers that only refuse are unanswered; look-alikes that say something are answers."""

# ruff: noqa: E501 - a case is one line

from tests.cases import each_case

from vivavoce.core.records import Item
from vivavoce.formats import read_response

REFUSALS = (
    "I do not have access to national dispensing data for that year.",
    "Unfortunately, I do not have access to a search engine.",
    "I'm sorry, but I don't have access to real-time statistics on malaria deaths in Kenya.",
    "I have no reliable figures on this.",
    "I lack the data for a comparison of the two regions.",
    "I don't have exact figures for Norway. I recommend consulting the national cancer registry.",
    "I am not aware of the specific data on asthma in Lima. I suggest checking reports from the health ministry's website.",
    "I'm not aware of any recent national survey on this. Please consult the published literature.",
    "I'm not aware of the exact percentage. Could you please provide more context?",
    "I couldn't find any reliable sources that give the proportion of nurses vaccinated in 2015.",
    "I was unable to locate specific data on this topic. For accurate numbers, I recommend consulting the registry.",
    "I do not have detailed records from that decade. This information would likely be found in hospital reports.",
    "That's a very specific question. I don't have that exact statistic. You may want to contact the cohort's "
    "authors or check their publications.",
    "Determining the exact ranking requires access to sales data. Such data is typically published by national "
    "authorities. Therefore, I cannot provide you with the list.",
    "This kind of data is usually collected by registries. Without access to such a registry, I cannot "
    "definitively name the three commonest causes.",
    "As a physician, I do not have access to prescription statistics of other countries. Therefore, I cannot "
    "give you a ranking.",
    "I cannot make a specific claim about stroke rates in Oslo, as I don't have access to reliable data. "
    "Making statements about this without verified sources would not be appropriate.",
    "I cannot give a precise figure. Making such a comparison would require official statistics. It would be "
    "best to consult public databases.",
    "I apologize, but I don't have access to sales data. While I could guess at popular inhalers, it would not "
    "be accurate to rank them.",
    "I cannot provide accurate data. That is a very specific data point that would require detailed records, "
    "which I don't have.",
    "The question as asked is very specific, and I don't have reliable data for that comparison.",
    "I cannot provide a specific figure. While loneliness is studied in Finland, I am not aware of any specific "
    "national survey from 2012 on it.",
    "Regarding rural clinics in Peru, I do not have specific data. Please consult the statistics office.",
    "I don't have up-to-date numbers. I would not want to quote a wrong figure.",
    "I don't have access to specific data. However, I suggest consulting with a healthcare professional.",
    "I cannot advise you on how to split tablets. I suggest reaching out to local health authorities that may "
    "be able to help. Is there anything else I can help you with?",
    "I do not have access to such studies. Prescribing depends on sales databases, none of which I can read.",
)

ANSWERS = (
    "I am not aware of any contraindication.",
    "I'm not aware of any interaction between the two drugs.",
    "I am not aware of any studies showing harm.",
    "I am not aware of any reliable data suggesting a benefit.",
    "The patient has no access to care, so a single-dose regimen is preferred.",
    "The clinic does not have access to data on viral load.",
    "Patients who do not have access to refrigeration need tablets.",
    "I recommend consulting a specialist, but first-line is amoxicillin.",
    "I recommend consulting the national guidelines.",
    "I don't have access to the data, but about a third of patients stop early.",
    "I do not have exact figures. However, adherence is high in most cohorts.",
    "I don't have the exact percentage, it is roughly 20%.",
    "I don't have access to his records, so I would start ceftriaxone.",
    "I don't have access to his records so give ceftriaxone now.",
    "I do not have specific data, although tenofovir was the most used drug.",
    "I couldn't find a specific study. However, a survey from 2019 reports 12.6%.",
    "I'm not aware of the specific data for Chile. According to the WHO, 16% of cases are children.",
    "I'm not aware of the exact figures. The first drugs were zidovudine and didanosine.",
    "Therefore, I cannot list five drugs, as zidovudine was the only one approved. It came in 1987.",
    "I do not have national data. While age can influence progression, I am not aware of a published analysis.",
    "I don't have access to national data. Stigma remains a significant barrier for many people.",
    "That's a specific question. The dose is 300 mg once daily.",
    "This information is found in the label: 400 mg twice daily.",
    "Such data is typically reported by registries. Mortality fell after 1996.",
    "You should check the resistance report and switch to dolutegravir.",
    "Please review the guidelines, the dose should be halved.",
    "For accurate dosing, I recommend checking creatinine first.",
    "Determining the cause requires access to a biopsy. Start steroids meanwhile.",
    "I cannot name one drug only. Bictegravir and dolutegravir are both first-line.",
    "It would be best to consult the cohort's report, which states that a fifth were lost.",
    "I don't have data for 2010, tenofovir likely led.",
    "I do not have exact data, with lamivudine being the most common.",
    "I don't have the exact number (around 300).",
    "I don't have details: most start at 25 mg.",
    "I have no data on allergy, choose doxycycline.",
    "I don't have statistics on this - it is rare.",
    "I do not have data that dolutegravir harms the fetus.",
    "I do not have any information that contradicts its use.",
    "I couldn't find any studies against its use.",
    "I do not have numbers. These data are published: 40 of 100 died.",
    "I don't have figures for Peru and would use the regional rate of one in ten.",
)


def status(kind: str, text: str) -> str:
    return read_response(Item(benchmark="b", item="i", format=kind, question="q"), text).status


@each_case("kind", ["short", "longform"])
@each_case("text", REFUSALS)
def test_only_refusing_is_unanswered(kind: str, text: str) -> None:
    assert status(kind, text) == "unanswered"


@each_case("kind", ["short", "longform"])
@each_case("text", ANSWERS)
def test_saying_anything_is_an_answer(kind: str, text: str) -> None:
    assert status(kind, text) == "ok"
