"""A small library of our own writing: files by name."""

TEXTS = {
    "reimbursement.md": """# Reimbursement of travel

You may submit a request for reimbursement if the expense falls within the approved categories of Appendix D.
Once the claim is verified, it is recorded as a completed transaction and marked as won in the tracking system.
A confirmation email will be sent to you within three business days. If the reimbursement includes a $10
threshold adjustment, the system will generate a voucher code for accounting purposes.

This voucher is non-transferable and must be used within the same quarter.
""",
    "holidays.txt": """You may request a vacation if you have not used up your quota and your manager approves it.
Your request will not be approved unless both conditions hold. See Chapter 4.

Unused days expire on 31 March of the next year, except for employees on parental leave.
""",
    "notes.md": """# Office notes

- The office opens at 8:30 on weekdays; on Fridays it closes at 15:00.
- Parking is free for visitors, who get a badge at the reception on the ground floor.
""",
    "garden.txt": "\n\n".join(
        f"Bed number {n} of the garden is dug over in week {n + 3} and sown with {crop} two weeks after that. "
        f"Visitors may pick {crop} there in autumn. Whoever picks more than {n + 2} kilos pays for the rest at the "
        f"gate, and on Sundays nobody picks anything in bed {n}, for the gate is closed then and the keys are away."
        for n, crop in enumerate(["beans", "kale", "leeks", "peas", "onions", "carrots", "fennel", "spinach"])
    ),
}
